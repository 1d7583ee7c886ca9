#include "coordinator/explain/difference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

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
  if (a.model().fingerprint() != b.model().fingerprint()) {
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
std::vector<SegmentChange> SegmentChanges(const v1::Plan& a,
                                          const v1::Plan& b) {
  using Key = std::tuple<int, std::string, std::string>;
  std::map<Key, SegmentChange> changes;
  for (int s = 0; s < a.segments_size(); ++s) {
    const v1::PlanSegment& from = a.segments(s);
    const v1::PlanSegment& to = b.segments(s);
    const double resharding =
        to.resharding_seconds() - from.resharding_seconds();
    if (from.describe() == to.describe() && resharding == 0 &&
        from.seconds() == to.seconds()) {
      continue;
    }
    SegmentChange& change =
        changes[Key(from.type(), from.describe(), to.describe())];
    change.type = from.type();
    change.a = from.describe();
    change.b = to.describe();
    change.segments.push_back(s);
    change.seconds += to.seconds() - from.seconds();
    change.communication_seconds +=
        to.communication_seconds() - from.communication_seconds();
    change.resharding_seconds += resharding;
    change.memory_bytes += to.memory_bytes() - from.memory_bytes();
  }
  std::vector<SegmentChange> sorted;
  for (auto& [key, change] : changes) sorted.push_back(std::move(change));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const SegmentChange& x, const SegmentChange& y) {
                     return std::abs(x.seconds + x.resharding_seconds) >
                            std::abs(y.seconds + y.resharding_seconds);
                   });
  return sorted;
}

std::vector<ArgumentChange> ArgumentChanges(const Arguments& a,
                                            const Arguments& b) {
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, std::vector<std::string>> changes;
  for (int i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].sharding() == b[i].sharding()) continue;
    const std::string number = absl::StrCat(a[i].index());
    changes[Key(a[i].role(), a[i].sharding(), b[i].sharding())].push_back(
        a[i].name().empty() ? number : a[i].name());
  }
  std::vector<ArgumentChange> listed;
  for (auto& [key, names] : changes) {
    const auto& [role, from, to] = key;
    listed.push_back({role, from, to, std::move(names)});
  }
  return listed;
}

}  // namespace

PlanDifference ComparePlans(const v1::Plan& first, const v1::Plan& second) {
  const v1::Plan a = StagesInLine(first);
  const v1::Plan b = StagesInLine(second);
  PlanDifference difference;
  difference.reason = WhyNotComparable(a, b);
  if (a.feasible() && b.feasible()) {
    difference.noise_seconds =
        std::hypot(HalfWidth(a.predicted()), HalfWidth(b.predicted()));
    difference.within_noise =
        std::abs(b.predicted().step_seconds() - a.predicted().step_seconds()) <=
        difference.noise_seconds;
  }
  if (!difference.reason.empty()) return difference;
  difference.has_costs = HasCosts(a) && HasCosts(b);
  difference.segments = SegmentChanges(a, b);
  difference.arguments = ArgumentChanges(a.arguments(), b.arguments());
  difference.outputs = ArgumentChanges(a.outputs(), b.outputs());
  return difference;
}

}  // namespace meshwright::explain
