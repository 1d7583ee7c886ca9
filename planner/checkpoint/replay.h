// Replay: what a schedule costs, by executing it.
//
// Concept: holds the plain activations, the saved tensors and the live
// gradient, as a device would. It applies one operation after another by the
// rules of operation.h. Knows nothing of how schedules are found; any
// legal sequence is taken, memory-persistent or not. Before the first operation
// act[0] is stored. After the last every stage has run backward.
//
//   stored  = saved tensors + plain activations, save that a plain copy of
//             act[i] beside saved[i-1], which includes it, counts once
//   forward : stored + output (saved[i] for Fe) + transient + live gradient
//   L       : stored + act[n]
//   B_i     : stored + act[i+1] + transient; after freeing, stored + act[i]
//
// Errors: kInvalidArgument that names the operation, its place and what it
// lacks; kOutOfRange when the times sum to more than 63 bits of picoseconds.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_REPLAY_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_REPLAY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "planner/checkpoint/chain.h"
#include "planner/checkpoint/operation.h"

namespace meshwright::checkpoint {

struct Replayed {
  Picoseconds makespan{0};
  int64_t peak_bytes = 0;
};

// `chain` validates.
absl::StatusOr<Replayed> Replay(const Chain& chain, const Sequence& sequence);

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_REPLAY_H_
