// Chain: a model cut into stages that follow one another, for deciding which
// activations to keep and which to compute again.
//
//   act[0] ─▶ stage 0 ─▶ act[1] ─▶ stage 1 ─▶ ... ─▶ act[n] ─▶ loss
//               └ saved[0]           └ saved[1]
//
// Concept: plain data. saved[i] is all that stage i keeps for its backward, its
// output act[i+1] included. Whatever a stage needs only while it runs stands in
// the two transients. The transients of its communication come on top, since
// the collective reads what the computation still holds (MAP Eq. 6 adds them).
// Every run of a forward pays its communication, the first and the repeated.
// Shapes: n stages; act has n + 1 entries, saved, forward and backward n. The
// other lists have n, or are empty: zeros.
// Source: papers/map_colossal_auto.txt 5.2, tables 1 and 2.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_CHAIN_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_CHAIN_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "planner/problem/duration.h"

namespace meshwright::checkpoint {

using problem::Picoseconds;

// The tables of a solver grow with the square of the stages, its time with the
// cube.
inline constexpr int kMaxStages = 4096;

struct Chain {
  std::vector<Picoseconds> forward;
  std::vector<Picoseconds> backward;
  std::vector<int64_t> act_bytes;
  std::vector<int64_t> saved_bytes;
  std::vector<int64_t> forward_transient_bytes;
  std::vector<int64_t> backward_transient_bytes;
  std::vector<Picoseconds> forward_communication;
  std::vector<Picoseconds> backward_communication;
  std::vector<int64_t> forward_communication_bytes;
  std::vector<int64_t> backward_communication_bytes;
  Picoseconds loss{0};

  int stages() const { return static_cast<int>(forward.size()); }
  // With the communication; of a chain that validates.
  Picoseconds ForwardTime(int stage) const;
  // Transients: that of computing and that of communicating, added up.
  Picoseconds BackwardTime(int stage) const;
  int64_t ForwardTransient(int stage) const;
  int64_t BackwardTransient(int stage) const;
};

// Errors: kInvalidArgument in one sentence that names the field as the JSON
// format does ("saved_size[3] is negative: -1"). A chain that validates has
// sums of sizes, and of the times of a step without recompute, that fit.
absl::Status Validate(const Chain& chain);

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_CHAIN_H_
