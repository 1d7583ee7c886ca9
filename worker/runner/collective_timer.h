// CollectiveTimer: what a program's communication costs, from its collectives
// timed alone.
//
// Concept: every distinct collective (kind, bytes, group size) is compiled into
// a program of its own, which is timed once per batch (small_program.h). A
// program's communication is the sum over its collectives; overlap with compute
// is not seen this way. It is shown, not planned with: the minimum of samples
// is enough, and what takes long is sampled for a few seconds.
// Threads: one.
#ifndef MESHWRIGHT_WORKER_RUNNER_COLLECTIVE_TIMER_H_
#define MESHWRIGHT_WORKER_RUNNER_COLLECTIVE_TIMER_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/v1/profile.pb.h"
#include "worker/pjrt/client.h"
#include "worker/timing/protocol.h"

namespace meshwright::worker::runner {

class CollectiveTimer {
 public:
  CollectiveTimer(const pjrt::Client& client, const timing::Protocol& protocol)
      : client_(client), protocol_(protocol) {}

  // Times those not known yet. `partitions`: devices of the program they are
  // of. Calls `on_step` before each compilation and run. Errors:
  // kResourceExhausted or what else an execution says.
  absl::Status Learn(const std::vector<v1::Collective>& collectives,
                     int partitions,
                     const std::function<void()>& on_step = nullptr);

  struct Communication {
    absl::Duration total;
    // Kinds that could not be timed alone and are left out.
    std::vector<std::string> left_out;
  };
  // Of collectives that were learnt.
  Communication Sum(const std::vector<v1::Collective>& collectives,
                    int partitions) const;

 private:
  using Key = std::tuple<std::string, int64_t, int64_t, int>;

  const pjrt::Client& client_;
  timing::Protocol protocol_;
  std::map<Key, std::optional<absl::Duration>> known_;  // none: it has no time
};

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_COLLECTIVE_TIMER_H_
