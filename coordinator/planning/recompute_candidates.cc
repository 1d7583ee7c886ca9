#include "coordinator/planning/recompute_candidates.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/space/rematerialization/groups.h"

namespace meshwright::planning {
namespace {

using space::Configuration;

// The configurations of one type that recompute alone and are known, as
// configurations of the problem.
class Candidates {
 public:
  Candidates(const MeasuredStep& step, segmenter::SegmentTypeId type)
      : configurations_(step.space.types[type].configurations),
        usable_(step.measured.usable[type]),
        costs_(step.measured.problem.types[type].configs) {
    for (size_t i = 0; i < usable_.size(); ++i) {
      const Configuration& it = configurations_[usable_[i]];
      if (!it.recompute || it.role.InGroup()) continue;
      const int state = static_cast<int>(i);
      by_sharding_[{it.splits, it.segment_switch}] = state;
      states_.push_back(state);
    }
  }

  bool empty() const { return states_.empty(); }

  // Takes the configuration that shards as the state does, and recomputes.
  void TakeLike(int state) {
    const Configuration& it = configurations_[usable_[state]];
    const auto found = by_sharding_.find({it.splits, it.segment_switch});
    if (found != by_sharding_.end()) Take(found->second);
  }

  void TakeExtremes() {
    const auto fastest = [&](int a, int b) {
      return std::tuple(costs_[a].time, Kept(a)) <
             std::tuple(costs_[b].time, Kept(b));
    };
    const auto smallest = [&](int a, int b) {
      return std::tuple(Kept(a), costs_[a].time) <
             std::tuple(Kept(b), costs_[b].time);
    };
    Take(*std::min_element(states_.begin(), states_.end(), fastest));
    Take(*std::min_element(states_.begin(), states_.end(), smallest));
  }

  // In the order they were taken.
  std::vector<std::string> names() const { return names_; }

 private:
  int64_t Kept(int state) const {
    return costs_[state].persistent_bytes + costs_[state].saved_bytes;
  }

  void Take(int state) {
    const std::string& name = configurations_[usable_[state]].describe;
    const bool known =
        std::find(names_.begin(), names_.end(), name) != names_.end();
    if (!known && names_.size() < kMaxGrouped) names_.push_back(name);
  }

  const std::vector<Configuration>& configurations_;
  const std::vector<int>& usable_;
  const std::vector<problem::Config>& costs_;
  std::map<std::pair<int, segmenter::SegmentSwitch>, int> by_sharding_;
  std::vector<int> states_;
  std::vector<std::string> names_;
};

// The best plan within the limit, and the least-memory plan.
absl::StatusOr<std::vector<problem::Choice>> FindExtremePlans(
    const problem::PlanProblem& problem, const search::Options& options) {
  std::vector<problem::Choice> plans;
  ASSIGN_OR_RETURN(search::Answer answer, search::TrySolve(problem, options));
  if (answer.plan.has_value()) plans.push_back(answer.plan->choice);
  problem::PlanProblem min_memory = problem;
  min_memory.memory_limit_bytes = 0;
  ASSIGN_OR_RETURN(answer, search::TrySolve(min_memory, options));
  if (!answer.least_memory_bytes.has_value()) return plans;
  min_memory.memory_limit_bytes = answer.least_memory_bytes;
  min_memory.headroom_percent = 0;
  ASSIGN_OR_RETURN(answer, search::TrySolve(min_memory, options));
  if (answer.plan.has_value()) plans.push_back(answer.plan->choice);
  return plans;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindRecomputeCandidates(
    const MeasuredStep& step, const search::Options& options) {
  std::vector<std::string> names;
  const problem::PlanProblem& problem = step.measured.problem;
  std::optional<std::vector<problem::Choice>> plans;
  for (segmenter::SegmentTypeId t; t < step.space.types.size(); ++t) {
    if (space::FindLinks(step.analysis, step.analysis.types[t]).empty()) {
      continue;
    }
    Candidates candidates(step, t);
    if (candidates.empty()) continue;
    if (!plans.has_value()) {
      ASSIGN_OR_RETURN(plans, FindExtremePlans(problem, options));
    }
    for (const problem::Choice& plan : *plans) {
      std::set<int> states;
      for (size_t n = 0; n < plan.size(); ++n) {
        if (problem.nodes[n].type != static_cast<int>(t)) continue;
        states.insert(plan[n].begin(), plan[n].end());
      }
      for (int state : states) candidates.TakeLike(state);
    }
    candidates.TakeExtremes();
    for (const std::string& name : candidates.names()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  return names;
}

}  // namespace meshwright::planning
