#include "coordinator/export/op_level.h"

#include <algorithm>

#include "base/status_macros.h"
#include "coordinator/operators/block_choice.h"
#include "coordinator/operators/intraop_model.h"

namespace meshwright::exporting {

absl::StatusOr<OpLevelPlan> MakeOpLevelPlan(const segmenter::Analysis& analysis,
                                            const OpLevelRequest& wanted) {
  const AssumedDevice& device = wanted.device;
  ASSIGN_OR_RETURN(const operators::IntraOpModel read,
                   operators::ReadIntraOpModel(analysis, device.device));
  intraop::Request request;
  request.machine.mesh = analysis.mesh;
  const size_t axes = analysis.mesh.size();
  std::vector<double> alpha(axes, device.link_alpha_seconds);
  std::vector<double> beta(axes, device.link_beta_seconds_per_byte);
  for (size_t axis = 0; axis < std::min(axes, wanted.links.size()); ++axis) {
    alpha[axis] = wanted.links[axis].alpha;
    beta[axis] = wanted.links[axis].beta;
  }
  ASSIGN_OR_RETURN(request.machine.links,
                   layout::AlphaBetaLinks::Create(alpha, beta));
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
