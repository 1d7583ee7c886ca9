#include "coordinator/stages/stage_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/planning/choose_plan.h"
#include "coordinator/planning/score.h"
#include "planner/problem/evaluate.h"
#include "planner/problem/uncertainty.h"
#include "planner/search/tradeoffs/alternatives.h"
#include "planner/search/tradeoffs/ties.h"

namespace meshwright::stages {

using problem::Picoseconds;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

absl::StatusOr<StageSearch> StageSearch::Create(
    const planning::MeasuredStep& step,
    const std::vector<SharedArgument>& shared, int64_t own,
    int64_t micro_batches, std::optional<int64_t> limit) {
  StageSearch search(step, shared, own == 1 ? micro_batches : 1, limit);
  ASSIGN_OR_RETURN(search.measured_,
                   BuildStageProblem(step, own, micro_batches));
  search.weighed_ = search.measured_.problem.types;
  search.evaluated_ = search.measured_.problem;
  search.evaluated_.memory_limit_bytes.reset();
  return search;
}

void StageSearch::ApplyPassTimes(const PassTimesFunction& split) {
  if (repeats_ == 1) return;
  std::vector<problem::NodeType> types = measured_.problem.types;
  bool same = true;
  for (SegmentTypeId t; t < types.size(); ++t) {
    for (size_t i = 0; i < types[t].configs.size(); ++i) {
      problem::Config& config = types[t].configs[i];
      config =
          ChargePerPass(config, split(t, measured_.usable[t][i]), repeats_);
      same = same && config.time == weighed_[t].configs[i].time;
    }
  }
  if (same) return;
  weighed_ = std::move(types);
  by_held_.clear();
  for (Part& part : parts_) {
    part.fastest.reset();
    part.within_limit.clear();
  }
}

StageSearch::Part& StageSearch::FindPart(SegmentIndex first, SegmentIndex end) {
  const auto [place, added] = by_ends_.try_emplace(Ends{first, end}, 0);
  if (added) {
    std::string key;
    Part part = Cut(first, end, &key);
    const auto [found, is_new] =
        by_key_.try_emplace(key, static_cast<int>(parts_.size()));
    if (is_new) parts_.push_back(std::move(part));
    place->second = found->second;
  }
  return parts_[place->second];
}

StageSearch::Part StageSearch::Cut(SegmentIndex first, SegmentIndex end,
                                   std::string* key) const {
  const problem::PlanProblem& whole = measured_.problem;
  Part part;
  std::vector<std::optional<int>> place(whole.nodes.size());
  for (size_t n = 0; n < whole.nodes.size(); ++n) {
    const formulation::SegmentRun& run = measured_.runs[n];
    const size_t from = std::max(first, run.first_segment);
    const size_t to = std::min<size_t>(end, run.first_segment + run.count);
    if (from >= to) continue;
    place[n] = static_cast<int>(part.nodes.size());
    problem::Node node = whole.nodes[n];
    node.repeat = static_cast<int64_t>(to - from);
    absl::StrAppend(key, node.type, "x", node.repeat, " ");
    part.nodes.push_back(node);
  }
  for (const problem::Edge& edge : whole.edges) {
    const std::optional<int> from = place[edge.from];
    const std::optional<int> to = place[edge.to];
    if (!from.has_value() || !to.has_value()) continue;
    part.edges.push_back({*from, *to, edge.table});
    absl::StrAppend(key, *from, "-", *to, ":", edge.table, " ");
  }
  for (const SharedArgument& it : *shared_) {
    AddForeign(it, first, end, part, key);
  }
  return part;
}

void StageSearch::AddForeign(const SharedArgument& shared, SegmentIndex first,
                             SegmentIndex end, Part& part,
                             std::string* key) const {
  // The first that reads a parameter updates it.
  if (shared.segments[0] >= first) return;
  const auto reader =
      std::lower_bound(shared.segments.begin(), shared.segments.end(), first);
  if (reader == shared.segments.end() || *reader >= end) return;
  const segmenter::Analysis& analysis = step_->analysis;
  const ir::ValueId origin = analysis.module.parameters[shared.argument];
  const segmenter::SegmentGraph& graph = analysis.graphs[*reader];
  int value = 0;
  while (value < graph.input_count && graph.values[value].origin != origin) {
    ++value;
  }
  if (value == graph.input_count) return;
  const SegmentTypeId type = analysis.type_of_segment[*reader];
  int64_t copies = 0;
  for (SegmentIndex s = first; s < end; ++s) {
    copies += analysis.type_of_segment[s] == type;
  }
  const ir::Shape& shape = analysis.module.at(origin).shape;
  const space::Mesh& mesh = step_->space.context.mesh;
  const std::vector<int>& usable = measured_.usable[type];
  std::vector<int64_t>& bytes = part.foreign[type];
  bytes.resize(usable.size());
  for (size_t i = 0; i < usable.size(); ++i) {
    const space::SegmentAnnotation& annotation =
        step_->space.types[type].configurations[usable[i]].annotation;
    const int64_t all = space::CountBytesPerDevice(
        shape, annotation.GetSharding(value, shape, mesh), mesh);
    bytes[i] += (all + copies - 1) / copies;
  }
  absl::StrAppend(key, type.value(), " reads ", value, " ");
}

const problem::PlanProblem& StageSearch::Problem(const Part& part, int held,
                                                 std::optional<int64_t> limit) {
  const auto [found, added] = by_held_.try_emplace(held);
  problem::PlanProblem& problem = found->second;
  if (added) problem = measured_.problem;
  problem.types = weighed_;
  for (SegmentTypeId t; t < problem.types.size(); ++t) {
    const auto foreign = part.foreign.find(t);
    for (size_t i = 0; i < problem.types[t].configs.size(); ++i) {
      problem::Config& config = problem.types[t].configs[i];
      config.saved_bytes =
          problem::SaturatingMultiply(config.saved_bytes, held);
      if (foreign == part.foreign.end()) continue;
      config.persistent_bytes =
          problem::SaturatingAdd(config.persistent_bytes, foreign->second[i]);
    }
  }
  problem.nodes = part.nodes;
  problem.edges = part.edges;
  problem.memory_limit_bytes = limit;
  return problem;
}

RunPlan StageSearch::Evaluated(const Part& part,
                               const problem::Choice& choice) {
  RunPlan plan;
  evaluated_.nodes = part.nodes;
  evaluated_.edges = part.edges;
  const auto evaluation = problem::Evaluate(evaluated_, choice);
  const auto noise = problem::EstimateNoise(evaluated_, choice);
  if (evaluation.ok()) {
    plan.time = evaluation->time;
    plan.resharding = evaluation->resharding_time;
  }
  if (noise.ok()) plan.noise = *noise;
  plan.resharding_seconds = planning::SumReshardingSeconds(evaluated_, choice);
  int64_t transient = 0;
  for (size_t n = 0; n < choice.size(); ++n) {
    const SegmentTypeId type(part.nodes[n].type);
    const auto foreign = part.foreign.find(type);
    for (const int state : choice[n]) {
      const problem::Config& config =
          measured_.problem.types[type].configs[state];
      const int configuration = measured_.usable[type][state];
      plan.choice.push_back(configuration);
      const estimation::ConfigurationRef use = {type, configuration};
      if (plan.uses.empty() || plan.uses.back().choice != use) {
        plan.uses.push_back({use, 0});
      }
      ++plan.uses.back().count;
      plan.saved_bytes += config.saved_bytes;
      plan.persistent_bytes += config.persistent_bytes;
      if (foreign != part.foreign.end()) {
        plan.persistent_bytes += foreign->second[state];
      }
      transient = std::max(transient, config.transient_bytes);
    }
  }
  plan.persistent_bytes += transient;
  return plan;
}

absl::StatusOr<RunPlan> StageSearch::Solve(const Part& part, int held,
                                           std::optional<int64_t> limit) {
  const problem::PlanProblem& problem = Problem(part, held, limit);
  ASSIGN_OR_RETURN(const search::Answer answer, search::Solve(problem));
  ++solved_;
  if (!answer.plan.has_value()) {
    RunPlan none;
    none.fits = false;
    if (answer.least_memory_bytes.has_value()) {
      none.persistent_bytes = *answer.least_memory_bytes;
    }
    return none;
  }
  search::Plan plan = *answer.plan;
  if (part.ties_broken) {
    ASSIGN_OR_RETURN(plan,
                     search::BreakTies(problem, plan, planning::kMaxTieLoss));
  }
  return Evaluated(part, plan.choice);
}

absl::StatusOr<const RunPlan*> StageSearch::Search(Part& part, int held) {
  if (!part.fastest.has_value()) {
    ASSIGN_OR_RETURN(part.fastest, Solve(part, 1, std::nullopt));
  }
  const RunPlan& fastest = *part.fastest;
  const int64_t bytes = problem::SaturatingAdd(
      fastest.persistent_bytes,
      problem::SaturatingMultiply(fastest.saved_bytes, held));
  if (!fastest.fits || bytes <= limit_.value_or(bytes)) return &fastest;
  auto within_limit = part.within_limit.find(held);
  if (within_limit == part.within_limit.end()) {
    ASSIGN_OR_RETURN(RunPlan plan, Solve(part, held, limit_));
    within_limit = part.within_limit.emplace(held, std::move(plan)).first;
  }
  return &within_limit->second;
}

absl::StatusOr<const RunPlan*> StageSearch::Plan(SegmentIndex first,
                                                 SegmentIndex end, int held) {
  return Search(FindPart(first, end), held);
}

absl::StatusOr<const RunPlan*> StageSearch::PlanBreakingTies(SegmentIndex first,
                                                             SegmentIndex end,
                                                             int held) {
  Part& part = FindPart(first, end);
  if (!part.ties_broken) {
    part.ties_broken = true;
    part.fastest.reset();
    part.within_limit.clear();
  }
  return Search(part, held);
}

absl::StatusOr<problem::Choice> StageSearch::FindStates(
    const Part& part, const std::vector<int>& configurations) const {
  problem::Choice choice;
  auto configuration = configurations.begin();
  for (const problem::Node& node : part.nodes) {
    const std::vector<int>& usable = measured_.usable[node.type];
    std::vector<int>& copies = choice.emplace_back();
    for (int64_t copy = 0; copy < node.repeat; ++copy, ++configuration) {
      const auto state =
          std::find(usable.begin(), usable.end(), *configuration);
      if (state == usable.end()) {
        return absl::NotFoundError(
            absl::StrCat("configuration ", *configuration, " of type ",
                         node.type, " was not measured"));
      }
      copies.push_back(static_cast<int>(state - usable.begin()));
    }
  }
  return choice;
}

absl::StatusOr<RunPlan> StageSearch::EvaluateRun(
    SegmentIndex first, SegmentIndex end,
    const std::vector<int>& configurations) {
  const Part& part = FindPart(first, end);
  ASSIGN_OR_RETURN(const problem::Choice choice,
                   FindStates(part, configurations));
  return Evaluated(part, choice);
}

absl::StatusOr<std::vector<RunAlternative>> StageSearch::Alternatives(
    SegmentIndex first, SegmentIndex end, int held,
    const std::vector<int>& configurations, const search::Options& options) {
  const Part& part = FindPart(first, end);
  ASSIGN_OR_RETURN(const problem::Choice choice,
                   FindStates(part, configurations));
  const problem::PlanProblem& problem = Problem(part, held, limit_);
  ASSIGN_OR_RETURN(const std::vector<search::Alternative> found,
                   search::FindAlternatives(problem, choice, options));
  std::vector<RunAlternative> alternatives;
  for (const search::Alternative& it : found) {
    RunAlternative& out = alternatives.emplace_back();
    out.type = SegmentTypeId(it.type);
    out.configuration = measured_.usable[it.type][it.config];
    for (SegmentIndex s = first; s < end; ++s) {
      if (step_->analysis.type_of_segment[s] == out.type &&
          configurations[s - first] == out.configuration) {
        out.segments.push_back(s);
      }
    }
    if (!it.next.has_value()) continue;
    out.next = Evaluated(part, it.next->choice);
    out.open = repeats_ * (it.next->time - it.lower_bound);
    out.noise = {repeats_ * it.noise.below, repeats_ * it.noise.above};
  }
  return alternatives;
}

}  // namespace meshwright::stages
