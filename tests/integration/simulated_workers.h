// SimulatedWorkers: thousands of workers of one coordinator in one process,
// without a thread or a device for each.
//
// Concept: each speaks the Workers service on a connection of its own, as a
// worker daemon does. It answers every batch at once with rows that are made
// from the programs' keys. All beat every five seconds.
// Threads: gRPC's, and one that beats; `on_batch` is called on gRPC's, from
// several at once.
// Errors: a stream that breaks leaves its worker out; attached() tells.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_SIMULATED_WORKERS_H_
#define MESHWRIGHT_TESTS_INTEGRATION_SIMULATED_WORKERS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "proto/v1/job.pb.h"

namespace meshwright::integration {

class SimulatedWorkers {
 public:
  // A batch has come; called before it is answered.
  using OnBatch = std::function<void(const v1::RunnerRequest&)>;

  // Whose names begin with `name`: worker-0, worker-1, ...
  struct Options {
    std::string name = "worker-";
    int count = 1;
    int devices = 8;  // of each
    // Of so many hosts, and they join gangs; 0: one host, and they do not.
    int hosts = 0;
    std::string token;  // of role work; empty: none
  };
  SimulatedWorkers(const std::string& address, const Options& options,
                   OnBatch on_batch);
  ~SimulatedWorkers();  // they leave
  SimulatedWorkers(const SimulatedWorkers&) = delete;
  SimulatedWorkers& operator=(const SimulatedWorkers&) = delete;

  int attached() const;      // whose streams stand
  int64_t answered() const;  // programs

 private:
  class Stream;
  void Beat();

  const OnBatch on_batch_;  // outlives the streams
  base::Mutex mutex_;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::jthread heart_;  // last: it ends before the rest
};

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_SIMULATED_WORKERS_H_
