// FaultInjectionProxy: stands in front of a rank and disturbs its connections.
//
// Concept: whoever calls the proxy is connected on to the target. Bytes pass
// untouched until, on one connection and in the direction from the target to
// the caller, `after` bytes have passed; then `trouble` happens.
// Threads: its own; they end with the destructor.
#ifndef MESHWRIGHT_WORKER_COMM_TESTING_FAULT_INJECTION_PROXY_H_
#define MESHWRIGHT_WORKER_COMM_TESTING_FAULT_INJECTION_PROXY_H_

#include <cstdint>
#include <memory>
#include <string>

namespace meshwright::worker::comm {

enum class Trouble {
  kFlip,     // one bit of the byte at `after`
  kSilence,  // nothing passes any more, and nobody hears of it
  kClose,    // both ends see the end
};

class FaultInjectionProxy {
 public:
  FaultInjectionProxy(int target_port, Trouble trouble, int64_t after);
  ~FaultInjectionProxy();
  FaultInjectionProxy(const FaultInjectionProxy&) = delete;
  FaultInjectionProxy& operator=(const FaultInjectionProxy&) = delete;

  int port() const;

 private:
  class Channel;
  std::unique_ptr<Channel> channel_;
};

// Calls 127.0.0.1:`port`, says `text` and hangs up.
void SayTo(int port, const std::string& text);

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_TESTING_FAULT_INJECTION_PROXY_H_
