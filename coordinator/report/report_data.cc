#include "coordinator/report/report_data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "coordinator/explain/pipeline_waits.h"

namespace meshwright::report {
namespace {

// "layer_12.kernel" is "layer_*.kernel".
std::string ReplaceNumbers(const std::string& name) {
  std::string pattern;
  for (const char c : name) {
    if (!absl::ascii_isdigit(c)) {
      pattern += c;
    } else if (pattern.empty() || pattern.back() != '*') {
      pattern += '*';
    }
  }
  return pattern;
}

// In the order of the first of each group. A group of one keeps its name.
class ArgumentGroups {
 public:
  void Add(const v1::PlanArgument& argument) {
    const std::string shape =
        absl::StrCat("[", absl::StrJoin(argument.shape(), ","), "]");
    const auto [found, added] =
        known_.try_emplace({ReplaceNumbers(argument.name()), argument.role(),
                            shape, argument.sharding()},
                           groups_.size());
    if (added) {
      groups_.push_back({.name = argument.name(),
                         .role = argument.role(),
                         .shape = shape,
                         .sharding = argument.sharding()});
    } else {
      groups_[found->second].name = std::get<0>(found->first);
    }
    ++groups_[found->second].count;
  }
  std::vector<ArgumentGroup> Take() && { return std::move(groups_); }

 private:
  std::map<std::tuple<std::string, std::string, std::string, std::string>,
           size_t>
      known_;
  std::vector<ArgumentGroup> groups_;
};

std::vector<CollectiveSum> SumCollectives(const v1::Plan& plan,
                                          const explain::PlanBasis& basis) {
  std::map<std::pair<std::string, int64_t>, CollectiveSum> sums;
  for (const explain::UsedProgram& program : basis.programs) {
    for (const v1::Collective& it : program.row.measurement().collectives()) {
      CollectiveSum& sum = sums[{it.kind(), it.group_size()}];
      sum.kind = it.kind();
      sum.devices = it.group_size();
      const double count = program.runs * static_cast<double>(it.count());
      sum.count += count;
      sum.bytes += count * static_cast<double>(it.bytes());
    }
  }
  std::vector<CollectiveSum> sorted;
  for (auto& [key, sum] : sums) {
    sum.axis = NameAxis(plan, sum.devices);
    sorted.push_back(std::move(sum));
  }
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           &CollectiveSum::bytes);
  return sorted;
}

std::vector<StageSegments> FoldStages(const v1::Plan& plan) {
  if (!plan.has_pipeline()) {
    return {{.groups = FoldSegments(plan.segments(), 0)}};
  }
  std::vector<StageSegments> stages;
  for (const v1::PlanStage& stage : plan.stages()) {
    stages.push_back(
        {.stage = static_cast<int>(stages.size()) + 1,
         .groups = FoldSegments(stage.segments(), stage.first_segment())});
  }
  return stages;
}

}  // namespace

absl::Status CheckValidation(const ReportInputs& inputs) {
  double predicted = 0;
  if (inputs.validation.has_value()) {
    for (const v1::ValidatedPlan& it : inputs.validation->plans()) {
      if (it.name() == inputs.validation->chosen()) {
        predicted = it.predicted_seconds();
      }
    }
  } else if (inputs.staged_validation.has_value()) {
    predicted = inputs.staged_validation->step().predicted_seconds();
  } else {
    return absl::OkStatus();
  }
  const double own = inputs.plan.predicted().step_seconds();
  if (std::abs(predicted - own) <= 1e-6 * own) return absl::OkStatus();
  return absl::InvalidArgumentError(
      predicted <= 0 ? "it is no result of `meshwright validate --json` for "
                       "such a plan"
                     : "it is the validation of another plan; validate this "
                       "one with `meshwright validate MODEL PLAN --json`");
}

std::string NameAxis(const v1::Plan& plan, int64_t devices) {
  int64_t all = 1;
  std::vector<int> along;
  int split = 0;
  for (int axis = 0; axis < plan.mesh_size(); ++axis) {
    all *= plan.mesh(axis);
    split += plan.mesh(axis) > 1 ? 1 : 0;
    if (plan.mesh(axis) == devices) along.push_back(axis);
  }
  if (along.size() == 1) return absl::StrCat("axis ", along[0]);
  if (devices == all && split > 1) return "all axes";
  if (!along.empty()) return absl::StrCat("an axis of ", devices, " devices");
  return absl::StrCat("groups of ", devices, " devices");
}

absl::StatusOr<std::vector<Timeline>> MakeTimelines(
    const ReportInputs& inputs) {
  std::vector<Timeline> timelines;
  if (!inputs.plan.feasible()) return timelines;
  ASSIGN_OR_RETURN(
      Timeline predicted,
      PredictTimeline(inputs.plan,
                      inputs.basis.has_value() ? &*inputs.basis : nullptr));
  timelines.push_back(std::move(predicted));
  absl::StatusOr<Timeline> measured =
      absl::NotFoundError("there is no validation");
  if (inputs.validation.has_value()) {
    measured = MakeMeasuredTimeline(inputs.plan, *inputs.validation);
  } else if (inputs.staged_validation.has_value()) {
    measured = MakeMeasuredTimeline(inputs.plan, *inputs.staged_validation);
  }
  if (measured.ok()) {
    timelines.push_back(*std::move(measured));
  } else if (!absl::IsNotFound(measured.status())) {
    return measured.status();
  }
  return timelines;
}

absl::StatusOr<ReportData> MakeReportData(ReportInputs inputs) {
  ReportData data;
  const v1::Plan& plan = inputs.plan;
  data.segments = FoldStages(plan);
  if (inputs.basis.has_value()) {
    data.collectives = SumCollectives(plan, *inputs.basis);
  }
  ArgumentGroups arguments;
  ArgumentGroups outputs;
  for (const v1::PlanArgument& it : plan.arguments()) arguments.Add(it);
  for (const v1::PlanArgument& it : plan.outputs()) outputs.Add(it);
  for (const v1::PlanStage& stage : plan.stages()) {
    for (const v1::PlanArgument& it : stage.arguments()) arguments.Add(it);
    for (const v1::PlanArgument& it : stage.outputs()) outputs.Add(it);
  }
  data.arguments = std::move(arguments).Take();
  data.outputs = std::move(outputs).Take();
  ASSIGN_OR_RETURN(data.timelines, MakeTimelines(inputs));
  if (plan.has_pipeline() && plan.feasible()) {
    ASSIGN_OR_RETURN(data.waits, explain::FindPipelineWaits(plan));
  }
  data.inputs = std::move(inputs);
  return data;
}

}  // namespace meshwright::report
