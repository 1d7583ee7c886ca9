#include "tests/stress/walk_all.h"

#include <utility>

#include "base/status_macros.h"
#include "coordinator/export/assumed_device.h"
#include "coordinator/export/planned_step.h"
#include "coordinator/export/step_writer.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/operators/intraop_model.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"
#include "coordinator/space/rematerialization/groups.h"
#include "coordinator/stages/crossings.h"
#include "coordinator/stages/pass_programs.h"
#include "coordinator/stages/passes.h"

namespace meshwright::stress {
namespace {

void FindStages(const segmenter::Analysis& analysis) {
  const stages::StepPasses passes = stages::FindPasses(analysis);
  stages::FindCuts(analysis, passes, 1);
  stages::FindShared(analysis, passes);
  for (const int segment : analysis.types) {
    stages::FindPassPrograms(
        analysis, passes, segment,
        space::FindRematerialization(analysis, analysis.graphs[segment]));
  }
}

}  // namespace

absl::Status WalkAll(std::string_view bytes) {
  ASSIGN_OR_RETURN(ir::Module module, ir::LoadModule(bytes));
  ASSIGN_OR_RETURN(const segmenter::Analysis analysis,
                   segmenter::Analyze(std::move(module), {1, 2}));
  space::KeyContext context;
  context.mesh = {1, 2};
  const space::ProfileSpace space = space::BuildProfileSpace(analysis, context);
  RETURN_IF_ERROR(space::CheckConfigurations(analysis, space));
  for (const int segment : analysis.types) space::FindLinks(analysis, segment);
  FindStages(analysis);
  const space::SegmentChoice choice(analysis.graphs.size(), 0);
  exporting::WriteStep(analysis,
                       exporting::PlannedStep(analysis, space, choice));
  return operators::ReadIntraOpModel(analysis,
                                     exporting::AssumeDevice("cpu").device)
      .status();
}

}  // namespace meshwright::stress
