#include "coordinator/export/activations.h"

#include <map>
#include <set>

#include "coordinator/export/op_names.h"
#include "coordinator/export/planned_step.h"
#include "coordinator/export/whole_model.h"

namespace meshwright::exporting {
namespace {

using ir::ValueId;
using segmenter::Analysis;
using segmenter::SegmentIndex;

// Whether a value that leaves its segment is an activation: no result, no state
// and no gradient.
bool IsActivation(const Analysis& analysis, const std::set<ValueId>& results,
                  ValueId id) {
  const ir::Instruction& it = analysis.module.at(id);
  return analysis.passes.forward[id] && ir::IsFloating(it.shape.element_type) &&
         !results.contains(id);
}

}  // namespace

void DescribeActivations(const std::string& hlo_module,
                         const Analysis& analysis,
                         const space::ProfileSpace& space,
                         const space::SegmentChoice& choice, v1::Plan* plan) {
  const PlannedStep step(analysis, space, choice);
  const std::set<ValueId> results(analysis.module.outputs.begin(),
                                  analysis.module.outputs.end());
  std::map<ValueId, space::Sharding> found;
  for (SegmentIndex s; s < analysis.plan.segments.size(); ++s) {
    const segmenter::Segment& segment = analysis.plan.segments[s];
    for (int b = segment.first_block; b < segment.last_block; ++b) {
      for (const ValueId root : analysis.blocks.blocks[b].roots) {
        found.emplace(root, step.GetSharding(s, root));
      }
    }
    for (const int output : analysis.graphs[s].outputs) {
      const ValueId id = analysis.graphs[s].values[output].origin;
      if (!IsActivation(analysis, results, id)) continue;
      found.insert_or_assign(id, step.Leaving(s, id));
    }
  }
  // The analysis was made of these bytes, so that they are a module.
  const OpNames op_names = ReadOpNames(hlo_module).value_or(OpNames());
  for (const auto& [id, sharding] : found) {
    const ir::Instruction& it = analysis.module.at(id);
    const auto named = op_names.find(it.name());
    v1::PlanActivation& activation = *plan->add_activations();
    activation.set_op_name(named == op_names.end() ? it.name() : named->second);
    activation.set_sharding(FormatSharding(sharding, it.shape.rank()));
    for (const int64_t dim : it.shape.dims) activation.add_shape(dim);
  }
}

}  // namespace meshwright::exporting
