#include "coordinator/export/op_level.h"

#include "base/status_macros.h"
#include "coordinator/operators/block_choice.h"
#include "coordinator/operators/intraop_model.h"

namespace meshwright::exporting {

absl::StatusOr<OpLevelPlan> MakeOpLevelPlan(const segmenter::Analysis& analysis,
                                            const OpLevelRequest& wanted) {
  const AssumedDevice& device = wanted.device;
  ASSIGN_OR_RETURN(const operators::IntraOpModel read,
                   operators::ReadIntraOpModel(analysis, device.device));
  const size_t axes = analysis.mesh.size();
  intraop::Request request;
  request.machine.mesh = analysis.mesh;
  ASSIGN_OR_RETURN(
      request.machine.links,
      layout::AlphaBetaLinks::Create(
          std::vector<double>(axes, device.link_alpha_seconds),
          std::vector<double>(axes, device.link_beta_seconds_per_byte)));
  request.machine.cost = wanted.cost;
  request.memory_limit_bytes = wanted.memory_limit_bytes;
  request.split_contractions = wanted.split_contractions;
  OpLevelPlan plan;
  ASSIGN_OR_RETURN(plan.answer, intraop::Solve(read.model, request));
  if (plan.answer.plan.has_value()) {
    plan.by_block =
        operators::FindNearestStrategies(analysis, read, *plan.answer.plan);
  }
  return plan;
}

}  // namespace meshwright::exporting
