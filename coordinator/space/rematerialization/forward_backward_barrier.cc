#include "coordinator/space/rematerialization/forward_backward_barrier.h"

#include <algorithm>

namespace meshwright::space {

ForwardBackwardBarrier FindForwardBackwardBarrier(
    const segmenter::Analysis& analysis, const segmenter::SegmentGraph& graph) {
  for (const segmenter::SegmentValue& value : graph.values) {
    const std::optional<ir::LoopId> loop =
        analysis.module.at(value.origin).loop;
    if (loop.has_value() && analysis.plan.kept_loops[*loop]) return {};
  }
  ForwardBackwardBarrier barrier;
  for (const segmenter::BoundaryPair& exit : graph.exits) {
    if (!graph.is_input(exit.gradient)) continue;
    barrier.exits.push_back(exit);
  }
  if (barrier.empty()) return {};
  barrier.behind.assign(graph.values.size(), false);
  for (const segmenter::BoundaryPair& exit : barrier.exits) {
    barrier.behind[exit.gradient] = true;
  }
  for (size_t i = graph.input_count; i < graph.values.size(); ++i) {
    const auto& operands = graph.values[i].operands;
    barrier.behind[i] =
        std::any_of(operands.begin(), operands.end(),
                    [&](int operand) { return barrier.behind[operand]; });
  }
  return barrier;
}

}  // namespace meshwright::space
