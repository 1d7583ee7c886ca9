#include "tests/integration/two_stages.h"

#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "planner/search/search.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright {
namespace {

constexpr double kExpansion = 1.5;
constexpr int kBudgets = 10;

std::vector<Recomputation> ListRecomputation(
    const planning::MeasuredStep& step) {
  std::vector<Recomputation> types;
  for (size_t t = 0; t < step.space.types.size(); ++t) {
    std::map<std::pair<int, segmenter::SegmentSwitch>, int> shardings;
    Recomputation& type = types.emplace_back();
    for (const int config : step.measured.usable[t]) {
      const auto& it = step.space.types[t].configurations[config];
      const int next = static_cast<int>(shardings.size());
      type.recomputes.push_back(it.recompute);
      type.sharding.push_back(
          shardings.try_emplace({it.splits, it.segment_switch}, next)
              .first->second);
    }
  }
  return types;
}

}  // namespace

absl::StatusOr<planning::MeasuredStep> MeasureMadeUp(
    const std::string& module, uint64_t machine,
    const std::vector<std::string>& grouped) {
  v1::PlanRequest request;
  request.set_hlo_module(module);
  for (const int64_t size : {1, 2}) request.mutable_mesh()->add_shape(size);
  request.set_full_space(true);
  request.mutable_strategies()->add_open("recompute");
  request.mutable_strategies()->mutable_grouped()->Assign(grouped.begin(),
                                                          grouped.end());
  store::FakeProfileStore store;
  jobs::FakeMeasurer measurer;
  measurer.machine = machine;
  return planning::MeasureStep(request, {&store, &measurer},
                               [](const v1::PlanProgress&) {});
}

TwoStages::TwoStages(problem::PlanProblem problem,
                     std::vector<Recomputation> types)
    : problem_(std::move(problem)),
      types_(std::move(types)),
      sharding_(problem_) {
  for (size_t n = 0; n < problem_.nodes.size(); ++n) {
    const auto& recomputes = types_[problem_.nodes[n].type].recomputes;
    for (size_t c = 0; c < recomputes.size(); ++c) {
      if (recomputes[c]) {
        sharding_.forbidden[static_cast<int>(n)].push_back(static_cast<int>(c));
      }
    }
  }
}

TwoStages::TwoStages(const planning::MeasuredStep& step)
    : TwoStages(step.measured.problem, ListRecomputation(step)) {}

absl::StatusOr<std::optional<problem::Choice>> TwoStages::Solve(
    problem::PlanProblem problem, int64_t limit_bytes) const {
  problem.memory_limit_bytes = limit_bytes;
  ASSIGN_OR_RETURN(search::Answer answer, search::Solve(problem));
  if (!answer.plan.has_value()) return std::nullopt;
  return std::move(answer.plan->choice);
}

TwoStages::Score TwoStages::ScoreChoice(
    const absl::StatusOr<std::optional<problem::Choice>>& choice,
    int64_t limit_bytes) const {
  if (!choice.ok()) return choice.status();
  if (!choice->has_value()) return std::nullopt;
  ASSIGN_OR_RETURN(const problem::Evaluation it,
                   problem::Evaluate(problem_, **choice));
  if (it.peak_bytes > limit_bytes) {
    return absl::InternalError(absl::StrCat("a plan needs ", it.peak_bytes,
                                            " bytes of ", limit_bytes));
  }
  return it;
}

TwoStages::Score TwoStages::Joint(int64_t limit_bytes) const {
  return ScoreChoice(Solve(problem_, limit_bytes), limit_bytes);
}

TwoStages::Score TwoStages::Sharding(int64_t limit_bytes) const {
  return ScoreChoice(Solve(sharding_, limit_bytes), limit_bytes);
}

TwoStages::Score TwoStages::TwoStage(int64_t limit_bytes) const {
  std::optional<problem::Evaluation> best;
  std::set<problem::Choice> seen;
  double budget = static_cast<double>(limit_bytes);
  for (int n = 0; n < kBudgets; ++n, budget *= kExpansion) {
    ASSIGN_OR_RETURN(const auto sharding,
                     Solve(sharding_, static_cast<int64_t>(budget)));
    if (!sharding.has_value() || !seen.insert(*sharding).second) continue;
    ASSIGN_OR_RETURN(
        const auto score,
        ScoreChoice(Solve(Within(*sharding), limit_bytes), limit_bytes));
    if (score.has_value() && (!best.has_value() || score->time < best->time)) {
      best = score;
    }
  }
  return best;
}

problem::PlanProblem TwoStages::Within(const problem::Choice& sharding) const {
  problem::PlanProblem within = problem_;
  for (size_t n = 0; n < problem_.nodes.size(); ++n) {
    const Recomputation& type = types_[problem_.nodes[n].type];
    std::set<int> taken;
    for (const int config : sharding[n]) taken.insert(type.sharding[config]);
    for (size_t c = 0; c < type.sharding.size(); ++c) {
      if (taken.contains(type.sharding[c])) continue;
      within.forbidden[static_cast<int>(n)].push_back(static_cast<int>(c));
    }
  }
  return within;
}

absl::StatusOr<int64_t> TwoStages::FindMinBytes() const {
  problem::PlanProblem problem = problem_;
  problem.memory_limit_bytes = 0;
  ASSIGN_OR_RETURN(const search::Answer answer, search::Solve(problem));
  return answer.least_memory_bytes.value_or(0);
}

absl::StatusOr<int64_t> TwoStages::FastestBytes() const {
  ASSIGN_OR_RETURN(const search::Answer answer, search::Solve(problem_));
  if (!answer.plan.has_value()) return absl::InternalError("no plan at all");
  return answer.plan->peak_bytes;
}

}  // namespace meshwright
