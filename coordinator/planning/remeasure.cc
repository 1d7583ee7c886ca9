#include "coordinator/planning/remeasure.h"

#include <algorithm>
#include <vector>

#include "base/status_macros.h"
#include "coordinator/selection/choice_programs.h"

namespace meshwright::planning {

std::vector<const v1::Program*> ListUsedPrograms(const v1::Plan& plan,
                                                 const MeasuredStep& step) {
  if (plan.segments().empty()) return {};  // no plan fits
  space::SegmentChoice choice;
  for (const v1::PlanSegment& segment : plan.segments()) {
    choice.push_back(segment.config());
  }
  std::vector<const v1::Program*> programs;
  for (const space::ProgramId program :
       selection::ListChoicePrograms(step.analysis, step.space, choice)) {
    programs.push_back(&step.space.programs[program]);
  }
  return programs;
}

absl::StatusOr<bool> RemeasureNoisy(const v1::PlanRequest& request,
                                    const v1::Plan& plan,
                                    const v1::DeviceSpec& device,
                                    const PlanDependencies& dependencies,
                                    const jobs::ProgressFunction& progress,
                                    MeasuredStep& step) {
  if (request.no_wait() || !plan.feasible()) return false;
  std::vector<const v1::Program*> noisy = ListUsedPrograms(plan, step);
  std::erase_if(noisy, [&](const v1::Program* program) {
    const auto row = step.results.find(program->key());
    return row == step.results.end() || !IsNoisy(row->second);
  });
  if (noisy.empty()) return false;
  Measuring measuring(dependencies, device, step.space.context, progress);
  RETURN_IF_ERROR(measuring.Remeasure(noisy));
  for (const auto& [key, row] : measuring.results()) {
    if (row.outcome() != v1::MEASURED) continue;
    step.results[key] = row;
    estimation::BringToTimeBase(step.time_base, step.results[key]);
  }
  ASSIGN_OR_RETURN(
      step.measured,
      formulation::BuildProblem(step.analysis, step.space, step.results,
                                step.measured.problem.memory_limit_bytes));
  return true;
}

v1::Quality FindWorstQuality(const v1::Plan& plan, const MeasuredStep& step) {
  v1::Quality worst = v1::QUALITY_UNSPECIFIED;
  for (const v1::Program* program : ListUsedPrograms(plan, step)) {
    const auto row = step.results.find(program->key());
    if (row == step.results.end()) continue;
    worst = std::max(worst, row->second.measurement().quality());
  }
  return worst;
}

}  // namespace meshwright::planning
