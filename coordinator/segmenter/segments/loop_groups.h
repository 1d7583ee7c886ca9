// Loop groups: the loops of a step that run over layers.
//
// Concept: a loop that holds contractions of one direction only is a run of
// layers. The loop of the forward pass and that of the backward pass, whose
// contractions differentiate each other, form a group: one decision for all
// trips. A loop that holds both (gradient accumulation, several steps at once)
// is looked through: what is inside is cut into segments like any step. Loops
// without contractions (random bits) form no group.
// In -> Out: module, gradient matches -> LoopGroups.
// Shapes: `of_loop` by LoopId, none where the loop is in no group; the loops
// inside one of a group belong to it. Source: docs/decisions/segmentation.md.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_LOOP_GROUPS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_LOOP_GROUPS_H_

#include <optional>
#include <vector>

#include "coordinator/ir/module.h"
#include "coordinator/segmenter/direction/gradients.h"

namespace meshwright::segmenter {

struct LoopGroups {
  std::vector<std::optional<int>> of_loop;
  std::vector<char> has_contraction;  // by LoopId, inner loops included
  int count = 0;

  // The group of the loop that the value stands in; nullopt outside of loops
  // and in one without a group.
  std::optional<int> Find(const ir::Module& module, ir::ValueId id) const {
    const std::optional<ir::LoopId> loop = module.at(id).loop;
    return loop.has_value() ? of_loop[*loop] : std::nullopt;
  }
};

LoopGroups FindLoopGroups(const ir::Module& module,
                          const GradientMatches& gradients);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_LOOP_GROUPS_H_
