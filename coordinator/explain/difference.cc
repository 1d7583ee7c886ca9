#include "coordinator/explain/difference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/planning/plan_metadata.h"

namespace meshwright::explain {
namespace {

using Arguments = google::protobuf::RepeatedPtrField<v1::PlanArgument>;

std::string Where(const v1::Plan& plan, int stage) {
  return absl::StrCat(" on ", absl::StrJoin(plan.stages(stage).mesh(), "x"),
                      ", stage ", stage + 1);
}

void Merge(const Arguments& of_stage, const std::string& where,
           std::map<int, v1::PlanArgument>* all) {
  for (const v1::PlanArgument& it : of_stage) {
    const auto [place, added] = all->try_emplace(it.index(), it);
    if (added) place->second.set_sharding(absl::StrCat(it.sharding(), where));
  }
}

// The segments, arguments and outputs of the stages in order, as those of the
// plan; the mesh and the stage stand behind what each of them does. An argument
// of several stages is there as the first of them has it.
v1::Plan StagesInLine(const v1::Plan& plan) {
  v1::Plan line = plan;
  std::map<int, v1::PlanArgument> arguments, outputs;
  for (int i = 0; i < plan.stages_size(); ++i) {
    const v1::PlanStage& stage = plan.stages(i);
    const std::string where = Where(plan, i);
    for (const v1::PlanSegment& it : stage.segments()) {
      v1::PlanSegment& segment = *line.add_segments();
      segment = it;
      segment.set_describe(absl::StrCat(it.describe(), where));
    }
    Merge(stage.arguments(), where, &arguments);
    Merge(stage.outputs(), where, &outputs);
  }
  for (auto& [index, it] : arguments) *line.add_arguments() = std::move(it);
  for (auto& [index, it] : outputs) *line.add_outputs() = std::move(it);
  return line;
}

std::string WhyNotComparable(const v1::Plan& a, const v1::Plan& b) {
  const auto mesh = [](const v1::Plan& plan) {
    return absl::StrJoin(plan.mesh(), "x");
  };
  if (!planning::IsSameModel(a.model(), b.model())) {
    return absl::StrCat("they are plans of different models, ",
                        a.model().name(), " and ", b.model().name());
  }
  if (mesh(a) != mesh(b)) {
    return absl::StrCat("they are plans for different meshes, ", mesh(a),
                        " and ", mesh(b));
  }
  if (!a.feasible() || !b.feasible()) {
    return absl::StrCat("the ", a.feasible() ? "second" : "first",
                        " is infeasible");
  }
  if (a.segments_size() != b.segments_size()) {
    return absl::StrCat("they cut the model into ", a.segments_size(), " and ",
                        b.segments_size(), " segments");
  }
  return "";
}

double HalfWidth(const v1::PlanPrediction& predicted) {
  if (predicted.interval_seconds_size() != 2) return 0;
  return predicted.step_seconds() - predicted.interval_seconds(0);
}

bool HasCosts(const v1::Plan& plan) {
  return std::any_of(plan.segments().begin(), plan.segments().end(),
                     [](const auto& it) { return it.seconds() > 0; });
}

// A segment whose own choice stays is listed where it or its boundaries cost
// otherwise.
void CompareSegments(const v1::Plan& a, const v1::Plan& b,
                     v1::PlanDifference& difference) {
  using Key = std::tuple<int, std::string, std::string>;
  const bool has_costs = HasCosts(a) && HasCosts(b);
  std::map<Key, v1::SegmentChange> changes;
  for (int s = 0; s < a.segments_size(); ++s) {
    const v1::PlanSegment& from = a.segments(s);
    const v1::PlanSegment& to = b.segments(s);
    const double resharding =
        to.resharding_seconds() - from.resharding_seconds();
    if (from.describe() == to.describe() && resharding == 0 &&
        from.seconds() == to.seconds()) {
      continue;
    }
    v1::SegmentChange& change =
        changes[Key(from.type(), from.describe(), to.describe())];
    change.set_type(from.type());
    change.set_a(from.describe());
    change.set_b(to.describe());
    change.add_segments(s);
    change.set_seconds(change.seconds() + (to.seconds() - from.seconds()));
    change.set_communication_seconds(
        change.communication_seconds() +
        (to.communication_seconds() - from.communication_seconds()));
    change.set_resharding_seconds(change.resharding_seconds() + resharding);
    change.set_memory_bytes(change.memory_bytes() + to.memory_bytes() -
                            from.memory_bytes());
  }
  std::vector<v1::SegmentChange> sorted;
  for (auto& [key, change] : changes) sorted.push_back(std::move(change));
  const auto cost = [](const v1::SegmentChange& it) {
    return std::abs(it.seconds() + it.resharding_seconds());
  };
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [&](const auto& x, const auto& y) { return cost(x) > cost(y); });
  for (v1::SegmentChange& change : sorted) {
    if (!has_costs) {
      change.clear_seconds();
      change.clear_communication_seconds();
      change.clear_resharding_seconds();
      change.clear_memory_bytes();
    }
    *difference.add_segments() = std::move(change);
  }
}

using ArgumentChanges = google::protobuf::RepeatedPtrField<v1::ArgumentChange>;

// Stages leave out what no segment of theirs reads or makes.
void CompareArguments(const Arguments& a, const Arguments& b,
                      ArgumentChanges& listed) {
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, std::vector<std::string>> changes;
  std::map<int, std::string> shardings;  // of b, by index
  for (const v1::PlanArgument& it : b) shardings[it.index()] = it.sharding();
  for (const v1::PlanArgument& it : a) {
    const auto to = shardings.find(it.index());
    if (to == shardings.end() || it.sharding() == to->second) continue;
    changes[Key(it.role(), it.sharding(), to->second)].push_back(
        it.name().empty() ? absl::StrCat(it.index()) : it.name());
  }
  for (const auto& [key, names] : changes) {
    v1::ArgumentChange& change = *listed.Add();
    const auto& [role, from, to] = key;
    change.set_role(role);
    change.set_a(from);
    change.set_b(to);
    change.mutable_names()->Assign(names.begin(), names.end());
  }
}

v1::ComparedPlan Summarize(const v1::Plan& plan) {
  v1::ComparedPlan summary;
  summary.set_model(plan.model().name());
  *summary.mutable_mesh() = plan.mesh();
  summary.set_device(plan.device());
  summary.set_feasible(plan.feasible());
  summary.set_limit_bytes(plan.limit_bytes());
  if (plan.feasible()) *summary.mutable_predicted() = plan.predicted();
  if (!plan.has_pipeline()) return summary;
  v1::ComparedPipeline& pipeline = *summary.mutable_pipeline();
  pipeline.set_schedule(plan.pipeline().schedule());
  pipeline.set_micro_batches(plan.pipeline().micro_batches());
  pipeline.set_bubble(plan.pipeline().bubble());
  for (const v1::PlanStage& it : plan.stages()) {
    v1::ComparedStage& stage = *summary.add_stages();
    stage.set_first_segment(it.first_segment());
    stage.set_segments(it.segments_size());
    *stage.mutable_mesh() = it.mesh();
    stage.set_step_seconds(it.predicted().step_seconds());
    stage.set_peak_bytes(it.predicted().peak_bytes());
  }
  return summary;
}

}  // namespace

v1::PlanDifference ComparePlans(const v1::Plan& first, const v1::Plan& second) {
  const v1::Plan a = StagesInLine(first);
  const v1::Plan b = StagesInLine(second);
  v1::PlanDifference difference;
  *difference.mutable_a() = Summarize(first);
  *difference.mutable_b() = Summarize(second);
  difference.set_reason(WhyNotComparable(a, b));
  difference.set_comparable(difference.reason().empty());
  if (a.feasible() && b.feasible()) {
    const v1::PlanPrediction& from = a.predicted();
    const v1::PlanPrediction& to = b.predicted();
    difference.set_step_seconds(to.step_seconds() - from.step_seconds());
    difference.set_peak_bytes(to.peak_bytes() - from.peak_bytes());
    difference.set_noise_seconds(std::hypot(HalfWidth(from), HalfWidth(to)));
    difference.set_within_noise(std::abs(difference.step_seconds()) <=
                                difference.noise_seconds());
  }
  if (!difference.comparable()) return difference;
  CompareSegments(a, b, difference);
  CompareArguments(a.arguments(), b.arguments(),
                   *difference.mutable_arguments());
  CompareArguments(a.outputs(), b.outputs(), *difference.mutable_outputs());
  return difference;
}

}  // namespace meshwright::explain
