#include "planner/search/search.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/problem/evaluate.h"
#include "planner/problem/validate.h"
#include "planner/search/memory.h"
#include "planner/search/pareto.h"

namespace meshwright::search {
namespace {

using problem::Picoseconds;
using problem::PlanProblem;

// Whether the dearest plan could reach kNever by its sums alone.
bool MayOverflow(const Graph& graph) {
  const auto largest = [](const std::vector<Cost>& costs) {
    Cost most = 0;
    for (const Cost cost : costs) {
      if (cost < kNever) most = std::max(most, cost);
    }
    return most;
  };
  std::vector<Cost> matrices;
  for (const Matrix& matrix : graph.matrices) {
    matrices.push_back(largest(matrix.entries));
  }
  __int128 sum = 0;
  for (size_t n = 0; n < graph.node_unary.size(); ++n) {
    const __int128 copies = graph.first_slot[n + 1] - graph.first_slot[n];
    sum += copies * largest(graph.unaries[graph.node_unary[n]].time);
  }
  for (const Join& join : graph.joins) {
    sum += static_cast<__int128>(join.between + 1) * matrices[join.matrix];
  }
  return sum >= kNever;
}

class Solver {
 public:
  Solver(const PlanProblem& problem, const Options& options)
      : problem_(problem), graph_(BuildGraph(problem)) {
    until_ = [options] {
      return options.stop.stop_requested() ||
             (options.deadline.has_value() &&
              std::chrono::steady_clock::now() >= *options.deadline);
    };
  }

  absl::StatusOr<Answer> Run() {
    ASSIGN_OR_RETURN(components_, Decompose(graph_));
    const bool is_chain =
        std::all_of(components_.begin(), components_.end(),
                    [](const Component& c) { return c.held.empty(); });
    Answer answer{.solver = is_chain ? "chain" : "conditioned chain"};
    const Costs costs = TimeCosts(graph_);
    const MinSumResult fastest = MinSum(graph_, components_, costs, until_);
    if (fastest.cost >= kNever) {
      if (MayOverflow(graph_)) {
        return absl::OutOfRangeError(
            "every plan takes longer than the 23 days that can be added up");
      }
      return answer;
    }
    const Cost bound = fastest.is_complete
                           ? fastest.cost
                           : RelaxedMinSum(graph_, components_, costs);
    answer.lower_bound = Picoseconds(bound);
    if (!problem_.memory_limit_bytes.has_value() ||
        FootprintOf(graph_, fastest.slots).peak() <=
            *problem_.memory_limit_bytes) {
      RETURN_IF_ERROR(SetPlan(fastest.slots, answer));
      return answer;
    }
    RETURN_IF_ERROR(Limit(fastest, bound, answer));
    return answer;
  }

 private:
  absl::Status Limit(const MinSumResult& fastest, Cost bound, Answer& answer) {
    const int64_t limit = *problem_.memory_limit_bytes;
    auto least = FindLeastMemory(graph_, components_, until_);
    if (!least.has_value()) {
      return absl::OutOfRangeError(
          "every plan needs more bytes than can be added up");
    }
    if (least->peak_bytes > limit) {
      answer.least_memory_bytes = least->peak_bytes;
      return {};
    }
    answer.solver += " + prices";
    const problem::Choice choice = ToChoice(problem_, graph_, least->slots);
    ASSIGN_OR_RETURN(const problem::Evaluation evaluation,
                     problem::Evaluate(problem_, choice));
    Incumbent incumbent{.time = evaluation.time.count(),
                        .slots = std::move(least->slots),
                        .lower_bound = bound};
    if (fastest.is_complete) {
      PriceMemory(graph_, components_, fastest, limit, until_, incumbent);
    }
    answer.solver += " + pareto";
    ParetoSearch(graph_, components_, limit, until_, incumbent);
    answer.lower_bound = Picoseconds(incumbent.lower_bound);
    return SetPlan(incumbent.slots, answer);
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
  Until until_;
  std::vector<Component> components_;
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

}  // namespace meshwright::search
