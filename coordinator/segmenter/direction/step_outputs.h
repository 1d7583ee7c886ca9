// The kinds of a step's outputs: new state, and losses.
//
// Concept: an output that overwrites a donated argument is state. Where nothing
// is donated, an output is state if it has an argument's shape and is reached
// from it elementwise; but not a residual stream in inference, where no output
// depends on a gradient. A batch's prediction that depends on no gradient is no
// state; one of a donated batch is, where it follows elementwise, as what a
// recurrent step carries does. Where only some arguments are donated,
// other outputs are state of floating tensors likewise, if they depend on a
// gradient. Of the other outputs the losses are those that depend on no
// gradient. They are taken from the fewest contractions up, the smallest first.
// Compare a contraction above an output, but above no loss so far, with a
// contraction f of a loss. If it reads what f reads and follows from f, the
// output is no loss. A cotangent of f does that; another head on the same trunk
// does not. Source: docs/decisions/segmentation.md.
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
