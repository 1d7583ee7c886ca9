#include "coordinator/launch/annotated_model.h"

#include <utility>

#include "absl/strings/match.h"
#include "base/status_macros.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/export/whole_model.h"
#include "coordinator/ir/constants.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/ir/module.h"
#include "coordinator/space/profile_space.h"
#include "coordinator/space/read_request.h"

namespace meshwright::launch {

absl::StatusOr<std::string> AnnotatedModel(const std::string& hlo_module,
                                           const v1::Plan& plan) {
  ASSIGN_OR_RETURN(const auto strategies,
                   space::ReadRequest(plan.strategies()));
  ASSIGN_OR_RETURN(ir::Module module, ir::LoadModule(hlo_module));
  RETURN_IF_ERROR(ir::RequireLiterals(module));
  space::KeyContext context;
  context.mesh = space::Mesh(plan.mesh().begin(), plan.mesh().end());
  context.keeps_barriers = !absl::StartsWith(plan.device(), "cpu");
  ASSIGN_OR_RETURN(
      const segmenter::Analysis analysis,
      segmenter::Analyze(std::move(module), context.mesh, strategies));
  const space::ProfileSpace space = BuildProfileSpace(analysis, context);
  ASSIGN_OR_RETURN(const space::SegmentChoice choice,
                   exporting::FindChoice(plan, analysis, space));
  return exporting::WholeProgram(analysis, space, choice).hlo_module();
}

}  // namespace meshwright::launch
