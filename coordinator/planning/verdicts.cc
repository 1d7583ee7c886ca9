#include "coordinator/planning/verdicts.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/selection/choice_programs.h"

namespace meshwright::planning {
namespace {

// Programs of a verdict's configuration that have no row.
template <typename Verdict>
std::vector<space::ProgramId> ListUnknown(const Verdict& verdict,
                                          const MeasuredStep& step) {
  const auto& type = step.space.types[verdict.type()];
  std::vector<space::ProgramId> programs =
      selection::ListPrograms(type.configurations[verdict.config()]);
  std::erase_if(programs, [&](space::ProgramId program) {
    return step.results.contains(step.space.programs[program].key());
  });
  return programs;
}

// Keeps the verdicts that hold; counts programs that no earlier call counted.
template <typename Verdict>
int Take(const std::vector<Verdict>& verdicts, MeasuredStep& step,
         std::vector<Verdict>& taken, std::set<space::ProgramId>& counted) {
  const size_t before = counted.size();
  for (const Verdict& it : verdicts) {
    const std::vector<space::ProgramId> programs = ListUnknown(it, step);
    if (programs.empty()) continue;
    counted.insert(programs.begin(), programs.end());
    taken.push_back(it);
  }
  return static_cast<int>(counted.size() - before);
}

}  // namespace

void TakeVerdicts(const selection::Decision& decision, MeasuredStep& step) {
  step.excluded.clear();
  step.not_reached.clear();
  step.failed.clear();
  step.low_ends.clear();
  step.verdict_notes.clear();
  step.programs.clear_not_reached();
  std::set<space::ProgramId> counted;
  const bool is_final = decision.measure.empty();
  if (is_final) {
    step.programs.set_not_reached(
        Take(decision.not_reached, step, step.not_reached, counted));
  } else {
    step.verdict_notes.push_back(absl::StrCat(
        decision.measure.size(),
        " programs that the plan would measure next are left out, because it "
        "was asked not to wait: its lower bound does not count them"));
  }
  step.programs.set_excluded(
      Take(decision.excluded, step, step.excluded, counted));
  step.programs.set_failed(step.failed_programs +
                           Take(decision.failed, step, step.failed, counted));
  step.estimates = decision.estimates;
  for (const v1::PlanNotReached& it : step.not_reached) {
    const estimation::ConfigurationRef at = {
        segmenter::SegmentTypeId(it.type()), it.config()};
    step.low_ends[at] = decision.low_ends.at(at);
  }
  if (!step.not_reached.empty()) {
    step.verdict_notes.push_back(absl::StrCat(
        step.not_reached.size(),
        " configurations were not reached: they may be as fast as those "
        "measured, and the number of programs is used up; --full-space "
        "measures them"));
  }
}

absl::StatusOr<problem::Picoseconds> BoundWithNotReached(
    const MeasuredStep& step, std::optional<int64_t> sum_limit_bytes,
    problem::Picoseconds bound, const search::Options& options) {
  if (step.low_ends.empty()) return bound;
  ASSIGN_OR_RETURN(
      const formulation::MeasuredProblem wider,
      formulation::BuildProblem(step.analysis, step.space, step.results,
                                sum_limit_bytes, step.low_ends));
  const absl::StatusOr<search::Answer> answer =
      search::Solve(wider.problem, options);
  // The plan stands, with a bound that says nothing.
  if (absl::IsResourceExhausted(answer.status())) {
    return problem::Picoseconds(0);
  }
  RETURN_IF_ERROR(answer.status());
  // Nothing fits: the search has no bound to give.
  if (!answer->plan.has_value()) return bound;
  return std::min(bound, answer->lower_bound);
}

}  // namespace meshwright::planning
