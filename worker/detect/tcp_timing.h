// TimeHosts: what collectives between hosts take over TCP.
//
// Concept: every host of the list calls it. The first host leads: it says which
// hosts run which operation how often, hears how long that took, and decides
// what is next. Every pair is timed alone, by send/receive of all sizes, so
// that the links of the cluster are known one by one; then all-reduce,
// all-gather, reduce-scatter, all-to-all and broadcast in groups of 2, 4, ..
// and all hosts. A figure is the median of some batches; a batch is as many
// repetitions as fill kBatchSeconds.
//
//   leader:  item ──▶ members    they run it ──▶ nanoseconds ──▶ next item
//
// In → Out: the hosts → timings at the leader, nothing elsewhere.
// Units: bytes held per device before the step, seconds.
// Threads: one.
// Errors: those of TcpGroup (tcp_group.h). kDataLoss for a message of the
// leader that is none.
// Source: papers/map_colossal_auto.txt 4.2.
#ifndef MESHWRIGHT_WORKER_DETECT_TCP_TIMING_H_
#define MESHWRIGHT_WORKER_DETECT_TCP_TIMING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/cluster/detection.h"
#include "worker/detect/tcp_group.h"

namespace meshwright::worker::detect {

inline constexpr double kBatchSeconds = 0.02;
inline constexpr int64_t kMaximumTimedBytes = 256 << 20;

struct TcpTimingOptions {
  int64_t maximum_bytes = 8 << 20;
  TcpGroup::Clock::duration connect_patience = std::chrono::seconds(30);
  // A host that moves nothing for this long is lost.
  TcpGroup::Clock::duration patience = std::chrono::seconds(120);
  // Called at the leader before each series; for people.
  std::function<void(const std::string&)> report;
};

absl::StatusOr<std::vector<cluster::GroupTiming>> TimeHosts(
    const std::vector<TcpHost>& hosts, const std::string& self,
    const TcpTimingOptions& options);

}  // namespace meshwright::worker::detect

#endif  // MESHWRIGHT_WORKER_DETECT_TCP_TIMING_H_
