#include "tests/stress/walk_all.h"

#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "coordinator/export/assumed_device.h"
#include "coordinator/export/planned_step.h"
#include "coordinator/export/step_writer.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/launch/stage_modules.h"
#include "coordinator/launch/stage_values.h"
#include "coordinator/operators/intraop_model.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"
#include "coordinator/space/rematerialization/groups.h"
#include "coordinator/stages/crossings.h"
#include "coordinator/stages/pass_programs.h"
#include "coordinator/stages/passes.h"

namespace meshwright::stress {
namespace {

using segmenter::SegmentIndex;

// Two stages where a cut is possible, every segment with rematerialization. A
// step that the launch refuses is not walked further.
void FindLaunch(const segmenter::Analysis& analysis,
                const stages::StepPasses& passes,
                const std::vector<stages::Cut>& cuts) {
  std::vector<SegmentIndex> first_segments(1);
  for (size_t c = cuts.size() / 2; c < cuts.size(); ++c) {
    if (!cuts[c].possible) continue;
    first_segments.emplace_back(c + 1);
    break;
  }
  const auto places =
      launch::PlaceValues(analysis, passes, first_segments, true);
  if (!places.ok()) return;
  std::vector<space::Rematerialization> rematerializations;
  rematerializations.reserve(analysis.graphs.size());
  for (const segmenter::SegmentGraph& graph : analysis.graphs) {
    rematerializations.push_back(space::FindRematerialization(analysis, graph));
  }
  launch::FindModules(analysis, *places, rematerializations, 2).IgnoreError();
}

void FindStages(const segmenter::Analysis& analysis) {
  const stages::StepPasses passes = stages::FindPasses(analysis);
  FindLaunch(analysis, passes, stages::FindCuts(analysis, passes, 1));
  stages::FindShared(analysis, passes);
  for (const SegmentIndex segment : analysis.types) {
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
  for (const SegmentIndex segment : analysis.types)
    space::FindLinks(analysis, segment);
  FindStages(analysis);
  const space::SegmentChoice choice(analysis.graphs.size(), 0);
  exporting::WriteStep(analysis,
                       exporting::PlannedStep(analysis, space, choice));
  return operators::ReadIntraOpModel(analysis,
                                     exporting::AssumeDevice("cpu").device)
      .status();
}

}  // namespace meshwright::stress
