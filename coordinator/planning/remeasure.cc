#include "coordinator/planning/remeasure.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "coordinator/estimation/time_base.h"
#include "coordinator/export/baselines.h"
#include "coordinator/planning/verdicts.h"
#include "coordinator/selection/choice_programs.h"
#include "coordinator/selection/selection.h"
#include "planner/search/search.h"
#include "profiledb/store/row_time.h"

namespace meshwright::planning {

namespace {

using Programs = std::vector<const v1::Program*>;

// A noisy row was seen to take up to this many times what its program takes; a
// row of a slow period, whose samples agree, up to the second.
constexpr double kNoiseRatio = 2;
constexpr double kSlowPeriodRatio = 1.25;

// The noisy programs that together take the least of a step, up to this share
// of it, are left as they are: were each twice too slow, nobody would notice.
constexpr double kNegligibleShare = 0.02;

const v1::ProfileResult* FindRow(const MeasuredStep& step,
                                 const v1::Program* program) {
  const auto row = step.results.find(program->key());
  return row == step.results.end() ? nullptr : &row->second;
}

double GetNanoseconds(const MeasuredStep& step, const v1::Program* program) {
  const v1::ProfileResult* const row = FindRow(step, program);
  if (row == nullptr || row->outcome() != v1::MEASURED) return 0;
  return static_cast<double>(store::GetTimeNs(row->measurement()));
}

using Runs = std::map<const v1::Program*, double>;

// How often a step's time has that of each program. Where a plan gives equal
// segments several configurations, each counts as if all had it.
Runs CountRuns(const MeasuredStep& step) {
  Runs runs;
  const auto add = [&](const std::map<space::ProgramId, double>& once,
                       double times) {
    for (const auto& [program, weight] : once) {
      runs[&step.space.programs[program]] += weight * times;
    }
  };
  std::map<segmenter::SegmentTypeId, int> instances;
  for (const auto type : step.analysis.type_of_segment) ++instances[type];
  for (const auto& [type, count] : instances) {
    std::map<space::ProgramId, double> once;
    const auto take = [&](space::ProgramId program, double weight) {
      once[program] = std::max(once[program], std::abs(weight));
    };
    for (const auto& it : step.space.types[type].configurations) {
      if (it.program.has_value()) take(*it.program, it.weight);
      for (const space::Correction& correction : it.corrections) {
        take(correction.program, correction.weight);
      }
    }
    add(once, count);
  }
  std::map<int, int> crossings;
  for (const auto& [pair, boundary] : step.space.edges) ++crossings[boundary];
  for (const auto& [boundary, count] : crossings) {
    const space::Boundary& it = step.space.boundaries[boundary];
    std::map<space::ProgramId, double> once;
    for (const auto& row : it.programs) {
      for (const auto& programs : row) {
        for (const space::ProgramId program : programs) once[program] = 1;
      }
    }
    const segmenter::SegmentGraph& graph =
        step.analysis.graphs[it.from_segment];
    const int64_t trips = segmenter::CountTripsAround(
        step.analysis, graph.values[it.tensors[0].from_value].origin);
    add(once, count * static_cast<double>(trips));
  }
  return runs;
}

// Of the programs of one plan those with noisy rows that matter to its time.
Programs ListNoisy(const Programs& plan, const MeasuredStep& step) {
  double total = 0;
  Programs noisy;
  Runs runs = CountRuns(step);
  const auto take = [&](const v1::Program* program) {
    return runs[program] * GetNanoseconds(step, program);
  };
  const estimation::TimeBase fastest =
      estimation::FindFastestAnchor(step.results);
  std::set<const v1::Program*> met;
  for (const v1::Program* program : plan) {
    if (!met.insert(program).second) continue;
    total += take(program);
    const v1::ProfileResult* const row = FindRow(step, program);
    if (row != nullptr && IsNoisy(*row, fastest)) noisy.push_back(program);
  }
  std::stable_sort(noisy.begin(), noisy.end(),
                   [&](const v1::Program* a, const v1::Program* b) {
                     return take(a) < take(b);
                   });
  double left = kNegligibleShare * total;
  const auto first_that_matters =
      std::find_if(noisy.begin(), noisy.end(), [&](const v1::Program* program) {
        left -= take(program);
        return left < 0;
      });
  noisy.erase(noisy.begin(), first_that_matters);
  return noisy;
}

// Of them those that another measurement may change.
Programs ListDoubtful(const Programs& plan, const MeasuredStep& step) {
  Programs doubtful = ListNoisy(plan, step);
  const estimation::TimeBase fastest =
      estimation::FindFastestAnchor(step.results);
  std::erase_if(doubtful, [&](const v1::Program* program) {
    return !IsWorthMeasuring(*FindRow(step, program), fastest);
  });
  return doubtful;
}

// Of the plan that is the fastest if all doubtful rows are too slow.
absl::StatusOr<Programs> ListRivalsPrograms(const MeasuredStep& step,
                                            const search::Options& options) {
  ASSIGN_OR_RETURN(const formulation::MeasuredProblem optimistic,
                   formulation::BuildProblem(
                       step.analysis, step.space, MakeOptimisticRows(step),
                       step.measured.problem.memory_limit_bytes));
  ASSIGN_OR_RETURN(const search::Answer answer,
                   search::TrySolve(optimistic.problem, options));
  if (!answer.plan.has_value()) return Programs();
  return ListRunPrograms(
      step, segmenter::SegmentIndex(0),
      formulation::ToSegments(step.analysis, optimistic, answer.plan->choice));
}

// Those that the plan stands on and, in the first round, those that decide
// whether another one would be chosen or what it is compared with: by plan.
absl::StatusOr<std::vector<Programs>> ListDeciding(
    const v1::Plan& plan, bool with_rivals, const search::Options& options,
    const MeasuredStep& step) {
  if (!HasDoubtfulRows(step)) return std::vector<Programs>();
  std::vector<Programs> plans = {ListUsedPrograms(plan, step)};
  if (with_rivals) {
    ASSIGN_OR_RETURN(plans.emplace_back(), ListRivalsPrograms(step, options));
    for (const exporting::NamedChoice& it :
         exporting::MakeBaselines(step.analysis, step.space)) {
      plans.push_back(
          ListRunPrograms(step, segmenter::SegmentIndex(0), it.choice));
    }
  }
  return plans;
}

// As a plan that finds all of them in the store has them. A failure leaves the
// row that there is.
void TakeRows(const Measuring& measuring, MeasuredStep& step) {
  for (const auto& [key, row] : measuring.results()) {
    if (row.outcome() == v1::MEASURED) {
      step.rows[key] = row;
    } else {
      step.rows.emplace(key, row);
    }
  }
  step.results = step.rows;
  step.time_base = estimation::BringToOneTimeBase(step.results);
}

// What measuring took is no search.
void AddTimeOf(const Measuring& measuring, v1::PlanSeconds& seconds) {
  seconds.set_profile(seconds.profile() + measuring.seconds());
  seconds.set_compile(seconds.compile() + measuring.compile_seconds());
}

absl::Status JudgeAgain(const v1::DeviceSpec& device,
                        const PlanDependencies& dependencies,
                        const jobs::ProgressFunction& progress,
                        MeasuredStep& step) {
  if (step.excluded.empty() && step.not_reached.empty()) {
    return absl::OkStatus();
  }
  const selection::Selection selection(step.analysis, step.space,
                                       step.measured.problem.memory_limit_bytes,
                                       MakeSearchOptions(dependencies));
  selection::Decision decision;
  while (true) {
    ASSIGN_OR_RETURN(decision, selection.Next(step.results));
    RETURN_IF_ERROR(CheckWanted(dependencies));
    if (decision.measure.empty()) break;
    if (step.measured_now.size() + decision.measure.size() >
        static_cast<size_t>(selection.MaxPrograms())) {
      ASSIGN_OR_RETURN(decision, selection.Conclude(step.results));
      break;
    }
    Measuring measuring(dependencies, device, step.space.context, progress);
    RETURN_IF_ERROR(measuring.Measure(decision.measure));
    TakeRows(measuring, step);
    step.measured_now.insert(measuring.measured_now().begin(),
                             measuring.measured_now().end());
    step.programs.set_profiled(step.programs.profiled() + measuring.profiled());
    step.failed_programs += measuring.failed();
    AddTimeOf(measuring, step.seconds);
    step.notes.insert(step.notes.end(), measuring.notes().begin(),
                      measuring.notes().end());
  }
  RETURN_IF_ERROR(CheckWanted(dependencies));
  TakeVerdicts(decision, step);
  return absl::OkStatus();
}

}  // namespace

bool HasDoubtfulRows(const MeasuredStep& step) {
  const auto& programs = step.space.programs;
  const estimation::TimeBase fastest =
      estimation::FindFastestAnchor(step.results);
  return std::any_of(
      programs.begin(), programs.end(), [&](const v1::Program& program) {
        const v1::ProfileResult* const row = FindRow(step, &program);
        return row != nullptr && IsWorthMeasuring(*row, fastest);
      });
}

store::Results MakeOptimisticRows(const MeasuredStep& step) {
  store::Results rows = step.results;
  const estimation::TimeBase fastest = estimation::FindFastestAnchor(rows);
  for (auto& [key, row] : rows) {
    if (!IsWorthMeasuring(row, fastest)) continue;
    const double ratio = IsNoisy(row) ? kNoiseRatio : kSlowPeriodRatio;
    estimation::ScaleTimes(1 / ratio, *row.mutable_measurement());
  }
  return rows;
}

Programs ListRunPrograms(const MeasuredStep& step,
                         segmenter::SegmentIndex first,
                         const std::vector<int>& run) {
  Programs programs;
  for (const space::ProgramId program :
       selection::ListRunPrograms(step.analysis, step.space, first, run)) {
    programs.push_back(&step.space.programs[program]);
  }
  return programs;
}

Programs ListUsedPrograms(const v1::Plan& plan, const MeasuredStep& step) {
  if (plan.segments().empty()) return {};  // no plan fits
  space::SegmentChoice choice;
  for (const v1::PlanSegment& segment : plan.segments()) {
    choice.push_back(segment.config());
  }
  return ListRunPrograms(step, segmenter::SegmentIndex(0), choice);
}

absl::StatusOr<bool> RemeasureNoisyRows(const std::vector<Programs>& plans,
                                        const v1::DeviceSpec& device,
                                        const PlanDependencies& dependencies,
                                        const jobs::ProgressFunction& progress,
                                        MeasuredStep& step) {
  Programs programs;
  std::set<const v1::Program*> taken;
  for (const Programs& plan : plans) {
    for (const v1::Program* program : ListDoubtful(plan, step)) {
      if (taken.insert(program).second) programs.push_back(program);
    }
  }
  if (programs.empty()) return false;
  Measuring measuring(dependencies, device, step.space.context, progress);
  RETURN_IF_ERROR(measuring.Remeasure(programs));
  step.programs.set_remeasured(step.programs.remeasured() +
                               measuring.profiled());
  AddTimeOf(measuring, step.seconds);
  TakeRows(measuring, step);
  RETURN_IF_ERROR(JudgeAgain(device, dependencies, progress, step));
  return true;
}

absl::StatusOr<bool> RemeasureNoisy(const v1::PlanRequest& request,
                                    const v1::Plan& plan, bool with_rivals,
                                    const v1::DeviceSpec& device,
                                    const PlanDependencies& dependencies,
                                    const jobs::ProgressFunction& progress,
                                    MeasuredStep& step) {
  if (request.no_wait() || !plan.feasible()) return false;
  ASSIGN_OR_RETURN(
      const std::vector<Programs> plans,
      ListDeciding(plan, with_rivals, MakeSearchOptions(dependencies), step));
  RETURN_IF_ERROR(CheckWanted(dependencies));
  ASSIGN_OR_RETURN(
      const bool changed,
      RemeasureNoisyRows(plans, device, dependencies, progress, step));
  if (!changed) return false;
  ASSIGN_OR_RETURN(
      step.measured,
      formulation::BuildProblem(step.analysis, step.space, step.results,
                                step.measured.problem.memory_limit_bytes));
  return true;
}

void AddQuality(const Programs& programs, const MeasuredStep& step,
                v1::Plan& plan) {
  std::set<int> reasons(plan.noise().begin(), plan.noise().end());
  const Programs noisy = ListNoisy(programs, step);
  const std::set<const v1::Program*> counted(noisy.begin(), noisy.end());
  const estimation::TimeBase fastest =
      estimation::FindFastestAnchor(step.results);
  for (const v1::Program* program : programs) {
    const v1::ProfileResult* const row = FindRow(step, program);
    if (row == nullptr) continue;
    const v1::Measurement& it = row->measurement();
    if (!counted.contains(program)) {
      plan.set_quality(
          std::max(plan.quality(), std::min(it.quality(), v1::GOOD)));
      continue;
    }
    // Also where each measurement is good and they lie too far apart.
    plan.set_quality(std::max({plan.quality(), it.quality(), v1::NOISY}));
    reasons.insert(it.noise().begin(), it.noise().end());
    if (estimation::IsOfSlowPeriod(fastest, it)) {
      reasons.insert(v1::SLOW_PERIOD);
    }
  }
  plan.mutable_noise()->Assign(reasons.begin(), reasons.end());
}

}  // namespace meshwright::planning
