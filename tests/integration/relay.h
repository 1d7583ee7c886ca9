// Relay: a connection between a worker and its coordinator that a test cuts.
//
// Concept: whoever calls its address is connected on to the target. While it is
// cut, a call ends at once.
// Threads: all methods from any thread. Errors: they fail the test.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_RELAY_H_
#define MESHWRIGHT_TESTS_INTEGRATION_RELAY_H_

#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"

namespace meshwright::integration {

class Relay {
 public:
  explicit Relay(const std::string& target);  // 127.0.0.1:PORT
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::string address() const;
  void Cut() ABSL_LOCKS_EXCLUDED(mutex_);
  void Mend() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Accept() ABSL_LOCKS_EXCLUDED(mutex_);

  const int target_;  // ports
  int port_ = 0;
  int listener_ = -1;
  base::Mutex mutex_;
  bool is_cut_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<int> sockets_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::jthread> pumps_;  // of the thread
  std::jthread thread_;
};

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_RELAY_H_
