#include "planner/search/search.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/problem/allowed.h"
#include "planner/problem/evaluate.h"
#include "planner/problem/validate.h"
#include "planner/search/constrained/lagrangian.h"
#include "planner/search/constrained/memory_constrained.h"
#include "planner/search/constrained/min_memory.h"

namespace meshwright::search {
namespace {

using problem::Picoseconds;
using problem::PlanProblem;

// The time that the slowest plan could take, over all components.
__int128 SlowestTime(const Graph& graph) {
  const auto largest = [](const std::vector<Cost>& costs) {
    Cost max_cost = 0;
    for (const Cost cost : costs) {
      if (cost < kNever) max_cost = std::max(max_cost, cost);
    }
    return max_cost;
  };
  __int128 sum = 0;
  for (size_t n = 0; n < graph.node_unary.size(); ++n) {
    const __int128 copies = graph.first_slot[n + 1] - graph.first_slot[n];
    sum += copies * largest(graph.unaries[graph.node_unary[n]].time);
  }
  for (const Join& join : graph.joins) {
    sum += static_cast<__int128>(join.between + 1) *
           graph.matrices->extents[join.matrix].max;
  }
  return sum;
}

// Whether copies of a tied node alone take too long: such configurations count
// as never.
bool IsTiedTooLong(const PlanProblem& problem) {
  return std::any_of(
      problem.nodes.begin(), problem.nodes.end(),
      [&](const problem::Node& node) {
        if (!node.tied) return false;
        const auto& configs = problem.types[node.type].configs;
        return std::any_of(
            configs.begin(), configs.end(), [&](const problem::Config& config) {
              return static_cast<__int128>(node.repeat) * config.time.count() >=
                     kNever;
            });
      });
}

constexpr int64_t kMaxBytes = std::numeric_limits<int64_t>::max();
constexpr int64_t kMaxMixed = 2'000'000;  // slots

class Solver {
 public:
  Solver(const PlanProblem& problem, const Options& options)
      : problem_(problem),
        graph_(BuildGraph(problem)),
        work_(options.work),
        deadline_(options.deadline),
        components_(Decompose(graph_)),
        slowest_time_(SlowestTime(graph_)) {}

  absl::StatusOr<Answer> Run() {
    const bool is_chain =
        std::all_of(components_.begin(), components_.end(),
                    [](const Component& c) { return c.path.has_value(); });
    Answer answer{.solver = is_chain ? "chain" : "elimination"};
    const std::optional<int64_t> limit = problem::ComputeUsableBytes(problem_);
    const MinSumResult fastest =
        MinimizeSum(graph_, components_, TimeCosts(graph_), work_, deadline_);
    if (fastest.bound >= kNever) {
      if (slowest_time_ >= kNever || IsTiedTooLong(problem_)) {
        return absl::OutOfRangeError(
            "every plan takes longer than the 23 days that can be added up; "
            "give smaller seconds in types and tables");
      }
      return answer;
    }
    if (fastest.cost >= kNever) {
      return MakeNoPlanFoundError();
    }
    if (fastest.bound < fastest.cost) answer.solver = "labels";
    answer.lower_bound = Picoseconds(fastest.bound);
    if (!limit.has_value() || Fits(fastest.slots, *limit)) {
      RETURN_IF_ERROR(SetPlan(fastest.slots, answer));
      return answer;
    }
    RETURN_IF_ERROR(Limit(fastest, std::min(*limit, kMaxBytes - 1), answer));
    return answer;
  }

 private:
  // Neither a plan nor a proof that there is none.
  absl::Status MakeNoPlanFoundError() const {
    if (deadline_.stop.stop_requested()) {
      return absl::ResourceExhaustedError(
          "the search was stopped before it found a plan without the pairs "
          "that tables forbid; start it again");
    }
    return absl::ResourceExhaustedError(
        "the pairs that tables forbid leave no plan that the search found, "
        "and too many to rule all out; allow more pairs");
  }

  // Sums are held at kMaxBytes, so what meets it may be more.
  bool Fits(const std::vector<int>& slots, int64_t limit) const {
    const int64_t peak = ComputeFootprint(graph_, slots).peak();
    if (peak < kMaxBytes) return peak <= limit;
    return limit == kMaxBytes &&
           problem::Evaluate(problem_, ToChoice(problem_, graph_, slots)).ok();
  }

  absl::Status Limit(const MinSumResult& fastest, int64_t limit,
                     Answer& answer) {
    MinMemory smallest =
        FindMinMemory(graph_, components_, limit, work_, deadline_);
    if (smallest.slots.empty() && !smallest.is_exact) {
      return MakeNoPlanFoundError();
    }
    if (smallest.slots.empty()) {
      return absl::OutOfRangeError(
          "every plan needs more bytes than can be added up; give smaller "
          "persistent_bytes, saved_bytes and transient_bytes in types");
    }
    if (smallest.peak_bytes > limit) {
      if (smallest.bound_bytes <= limit) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "no plan within memory_limit_bytes was found, nor a proof that "
            "there is none; one of ",
            smallest.peak_bytes, " bytes was"));
      }
      answer.least_memory_bytes = smallest.peak_bytes;
      return {};
    }
    const problem::Choice choice = ToChoice(problem_, graph_, smallest.slots);
    ASSIGN_OR_RETURN(const problem::Evaluation evaluation,
                     problem::Evaluate(problem_, choice));
    Incumbent incumbent{.time = evaluation.time.count(),
                        .bytes = ComputeFootprint(graph_, smallest.slots).bytes,
                        .slots = std::move(smallest.slots),
                        .lower_bound = fastest.bound};
    Constrain(fastest, limit, incumbent, answer);
    answer.lower_bound = Picoseconds(incumbent.lower_bound);
    return SetPlan(incumbent.slots, answer);
  }

  // By multipliers on folded copies first, where they are tried in a moment.
  void Constrain(const MinSumResult& fastest, int64_t limit,
                 Incumbent& incumbent, Answer& answer) {
    const bool is_moderate = IsModerate();
    answer.solver += is_moderate ? " + labels" : " + multipliers";
    if (deadline_.HasPassed()) return;
    std::vector<int> too_large;
    const bool is_folded = graph_.first_slot.back() >=
                           2 * static_cast<int64_t>(graph_.variables.size());
    if (!is_moderate || is_folded) {
      too_large = SearchMultiplier(graph_, components_, fastest, limit, work_,
                                   deadline_, incumbent);
    }
    if (graph_.first_slot.back() > kMaxMixed || deadline_.HasPassed()) return;
    const Model model = LaidOutModel(graph_);
    if (!too_large.empty() && !deadline_.HasPassed()) {
      MixPlans(model, too_large, limit, deadline_, incumbent);
    }
    if (!is_moderate || incumbent.lower_bound == incumbent.time ||
        deadline_.HasPassed()) {
      return;
    }
    const Point fast{fastest.cost,
                     ComputeFootprint(graph_, fastest.slots).bytes};
    SolveMemoryConstrained(model, limit, fast, work_, deadline_, incumbent);
  }

  // Whether every copy may be looked at for itself, and no sum of costs comes
  // near kNever.
  bool IsModerate() const {
    constexpr double kMaxSteps = 1e8;
    constexpr int64_t kMaxSlots = 20'000;  // some kilobytes each
    double steps = 0;
    for (size_t n = 0; n < graph_.node_unary.size(); ++n) {
      const double k = graph_.unaries[graph_.node_unary[n]].time.size();
      steps +=
          k * k *
          static_cast<double>(graph_.first_slot[n + 1] - graph_.first_slot[n]);
    }
    return graph_.first_slot.back() <= kMaxSlots && steps <= kMaxSteps &&
           slowest_time_ < kNever / 8;
  }

  // The figures of a plan come from the evaluator, not from the solver.
  absl::Status SetPlan(const std::vector<int>& slots, Answer& answer) const {
    Plan plan{.choice = ToChoice(problem_, graph_, slots)};
    ASSIGN_OR_RETURN(const problem::Evaluation evaluation,
                     problem::Evaluate(problem_, plan.choice));
    plan.time = evaluation.time;
    plan.peak_bytes = evaluation.peak_bytes;
    if (answer.lower_bound > plan.time) {
      return absl::InternalError(
          absl::StrCat("the search bound ", answer.lower_bound.count(),
                       " ps is above its own plan of ", plan.time.count()));
    }
    answer.plan = std::move(plan);
    return {};
  }

  const PlanProblem& problem_;
  const Graph graph_;
  const WorkBudget work_;
  const base::Deadline deadline_;
  const std::vector<Component> components_;
  const __int128 slowest_time_;
};

}  // namespace

double Answer::Gap() const {
  if (!plan.has_value() || plan->time.count() == 0) return 0;
  return static_cast<double>((plan->time - lower_bound).count()) /
         static_cast<double>(plan->time.count());
}

absl::StatusOr<Answer> Solve(const PlanProblem& problem,
                             const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(problem::Validate(problem));
  ASSIGN_OR_RETURN(Answer answer, Solver(problem, options).Run());
  answer.elapsed = std::chrono::steady_clock::now() - begin;
  return answer;
}

absl::StatusOr<Answer> TrySolve(const PlanProblem& problem,
                                const Options& options) {
  absl::StatusOr<Answer> answer = Solve(problem, options);
  if (absl::IsResourceExhausted(answer.status())) return Answer();
  return answer;
}

}  // namespace meshwright::search
