// What the outputs of a step are: new state, and losses.
//
// Concept: an output that overwrites a donated argument is state; where nothing
// is donated, the output of an argument's shape that is reached from it
// elementwise is. Of the other outputs the losses are those that depend on no
// gradient. Taken from the fewest contractions up, the smallest first, an
// output is a loss unless a contraction above it, and above no loss so far,
// reads what a contraction f of a loss reads and follows from f, as a cotangent
// of f does. Another head on the same trunk does not.
// Source: design, section 4 ("Forward and backward").
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_STEP_OUTPUTS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_STEP_OUTPUTS_H_

#include <optional>
#include <vector>

#include "coordinator/ir/module.h"

namespace meshwright::segmenter {

// Both searches are bounded. Where the bound ends one, `cut_short` is set,
// where there is one.

// By parameter number: its output number.
std::vector<std::optional<int>> MatchState(const ir::Module& module,
                                           bool* cut_short = nullptr);

// Output numbers; `state` as MatchState gives it.
std::vector<int> FindLosses(const ir::Module& module,
                            const std::vector<std::optional<int>>& state,
                            bool* cut_short = nullptr);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_STEP_OUTPUTS_H_
