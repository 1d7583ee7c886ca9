// RunRank: one host's part in a plan.
//
// Concept: waits until all ranks are there, then gets and sends the slices in
// the order of the plan. It verifies every slice against its sender's checksum,
// and makes them visible. A receiver says READY once its incoming port is free
// of earlier tasks. A sender starts a task once its outgoing port is free and
// all receivers are ready. The first unfinished task of the order always may
// run, so that no plan blocks. Received bytes stay in staging until the leader
// has heard from every rank that it verified everything. Then, and only then,
// destinations are replaced, on all ranks. After an error every destination is
// as it was.
// In → Out: a valid plan, this host, its sources → destinations, and a report.
// Threads: runs in the caller's; ranks of several threads share nothing.
// Errors: kInvalidArgument (a source of another size), kResourceExhausted
// (slices that do not fit in memory), those of the transport, kDataLoss (a
// checksum differs), kDeadlineExceeded (a transfer stands still), kCancelled
// (closed before the plan was done). Whoever sees one first informs the others,
// and all report the same sentence. One gap remains, as in every commit over a
// network: the leader may die while it says COMMIT. Those that heard it, or of
// it, have then published, and the others say that they cannot know
// (docs/decisions/resharding-executor.md).
// Source: papers/cross_mesh_resharding.txt, section 3.
#ifndef MESHWRIGHT_WORKER_COMM_EXECUTOR_RANK_H_
#define MESHWRIGHT_WORKER_COMM_EXECUTOR_RANK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "worker/comm/protocol/plan.h"
#include "worker/comm/transport/transport.h"

namespace meshwright::worker::comm {

using Bytes = std::vector<std::byte>;

enum class Verdict { kUnverified, kMatch, kMismatch };

struct TaskReport {
  int task = 0;
  bool sender = false;
  // Since START came. A sender's end is its last byte's going out, a
  // receiver's the verified slice.
  std::optional<double> start_seconds;
  std::optional<double> end_seconds;
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
  std::optional<uint64_t> checksum;
  Verdict verdict = Verdict::kUnverified;
};

struct Outcome {
  absl::Status status;
  std::vector<TaskReport> tasks;  // those of this host, in order
  // Of all ranks; once the plan is done.
  std::optional<double> makespan_seconds;
};

// `sources` and `destinations` go by task; those of other hosts stay unread.
Outcome RunRank(const Plan& plan, int self,
                std::span<const std::span<const std::byte>> sources,
                std::span<Bytes> destinations, Transport& transport);

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_EXECUTOR_RANK_H_
