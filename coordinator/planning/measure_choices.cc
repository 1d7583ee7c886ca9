#include "coordinator/planning/measure_choices.h"

#include <set>

#include "base/status_macros.h"
#include "coordinator/estimation/time_base.h"
#include "coordinator/selection/choice_programs.h"

namespace meshwright::planning {

absl::Status MeasureChoices(const v1::DeviceSpec& device,
                            const PlanDependencies& dependencies,
                            const jobs::ProgressFunction& progress,
                            const std::vector<space::SegmentChoice>& choices,
                            MeasuredStep& step) {
  std::set<space::ProgramId> programs;
  for (const space::SegmentChoice& choice : choices) {
    programs.merge(
        selection::ListChoicePrograms(step.analysis, step.space, choice));
  }
  std::vector<v1::Program> unknown;
  for (const space::ProgramId program : programs) {
    const v1::Program& it = step.space.programs[program];
    if (!step.results.contains(it.key())) unknown.push_back(it);
  }
  if (unknown.empty()) return absl::OkStatus();
  Measuring measuring(dependencies, device, step.space.context, progress);
  RETURN_IF_ERROR(measuring.Lookup(unknown));
  std::vector<const v1::Program*> wanted;
  for (const v1::Program& program : unknown) wanted.push_back(&program);
  RETURN_IF_ERROR(measuring.Measure(wanted));
  for (const auto& [key, row] : measuring.results()) {
    step.results[key] = row;
    estimation::BringToTimeBase(step.time_base, step.results[key]);
  }
  step.measured_now.insert(measuring.measured_now().begin(),
                           measuring.measured_now().end());
  ASSIGN_OR_RETURN(
      step.measured,
      formulation::BuildProblem(step.analysis, step.space, step.results,
                                step.measured.problem.memory_limit_bytes));
  return absl::OkStatus();
}

}  // namespace meshwright::planning
