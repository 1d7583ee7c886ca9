// Exhaustive: the whole trade of time against memory, by trying every
// schedule; the oracle of the tests.
//
// Concept: a search over the states of the device (which activations, saved
// tensors and gradient are stored). The operations and their sizes are
// written out once more. Nothing is shared with the solver or with Replay
// but the chain. A label is (time, peak); per state the Pareto front is kept.
// Left out is only what changes no state: a forward whose result is stored
// already and that frees nothing, or one above the next backward. kPersistent:
// an activation that CF_i or Fe_i kept stays until B_i; Fn_i may not drop it.
// kUnrestricted: it may.
// Cost: exponential; chains of up to 7 stages.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_TESTING_EXHAUSTIVE_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_TESTING_EXHAUSTIVE_H_

#include <cstdint>
#include <vector>

#include "planner/checkpoint/chain.h"

namespace meshwright::checkpoint {

enum class Schedules { kPersistent, kUnrestricted };

struct FrontPoint {
  int64_t peak_bytes = 0;
  Picoseconds makespan{0};
};

// Peaks rise, makespans fall: the best makespan at every budget.
std::vector<FrontPoint> SolveExhaustively(const Chain& chain,
                                          Schedules schedules);

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_TESTING_EXHAUSTIVE_H_
