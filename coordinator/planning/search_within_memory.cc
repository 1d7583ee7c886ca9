#include "coordinator/planning/search_within_memory.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "coordinator/problem/peak_timeline.h"
#include "planner/problem/allowed.h"
#include "planner/problem/evaluate.h"

namespace meshwright::planning {
namespace {

using formulation::MeasuredProblem;
using formulation::PeakParts;
using problem::Picoseconds;
using problem::PlanProblem;

constexpr int kMaxSearches = 4;
constexpr int kShares = 32;  // that a weight is counted in

// The plan whose sum is the least where no plan's is within the limit.
absl::StatusOr<search::Answer> SearchAtAll(PlanProblem& problem,
                                           const search::Options& options) {
  ASSIGN_OR_RETURN(search::Answer answer, search::Solve(problem, options));
  if (answer.plan.has_value() || !answer.least_memory_bytes.has_value()) {
    return answer;
  }
  problem.memory_limit_bytes = answer.least_memory_bytes;
  return search::Solve(problem, options);
}

// What a copy adds to either part of a plan's peak, its transient aside.
PeakParts CountShare(const MeasuredProblem& measured, int type, int config) {
  const problem::Config& it = measured.problem.types[type].configs[config];
  const formulation::TimelineBytes& bytes = measured.timeline[type][config];
  return {it.persistent_bytes + it.saved_bytes,
          it.persistent_bytes + 2 * bytes.reduced - bytes.copied};
}

// The least that a copy of the node adds to either part.
PeakParts FindLeastShare(const MeasuredProblem& measured, int node) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  PeakParts least{kMax, kMax};
  for (const int config : problem::ListAllowedConfigs(measured.problem, node)) {
    const PeakParts share =
        CountShare(measured, measured.problem.nodes[node].type, config);
    least.running = std::min(least.running, share.running);
    least.reducing = std::min(least.reducing, share.reducing);
  }
  return least;
}

using ConfigsByNode = std::map<int, std::vector<int>>;

// Those that the problem forbids, and those that no plan within the limit has:
// beside the least that all other copies need, one needs too much. Only the
// former where a node has no other: the smallest plan is sought then.
ConfigsByNode ListTooLarge(const MeasuredProblem& measured, int64_t limit) {
  const PlanProblem& problem = measured.problem;
  const int nodes = static_cast<int>(problem.nodes.size());
  std::vector<PeakParts> least;  // by node
  PeakParts sum;
  for (int n = 0; n < nodes; ++n) {
    least.push_back(FindLeastShare(measured, n));
    sum.running += problem.nodes[n].repeat * least[n].running;
    sum.reducing += problem.nodes[n].repeat * least[n].reducing;
  }
  ConfigsByNode too_large = problem.forbidden;
  for (int n = 0; n < nodes; ++n) {
    bool is_left = false;
    for (const int config : problem::ListAllowedConfigs(problem, n)) {
      const PeakParts share =
          CountShare(measured, problem.nodes[n].type, config);
      const bool may_fit =
          sum.running - least[n].running + share.running <= limit &&
          sum.reducing - least[n].reducing + share.reducing <= limit;
      is_left = is_left || may_fit;
      if (!may_fit) too_large[n].push_back(config);
    }
    if (!is_left) return problem.forbidden;
  }
  return too_large;
}

// No plan's sum is less than its peak then.
PlanProblem CountGradients(const MeasuredProblem& measured) {
  PlanProblem problem = measured.problem;
  for (size_t t = 0; t < problem.types.size(); ++t) {
    std::vector<problem::Config>& configs = problem.types[t].configs;
    for (size_t c = 0; c < configs.size(); ++c) {
      configs[c].saved_bytes =
          std::max(configs[c].saved_bytes, 2 * measured.timeline[t][c].reduced);
    }
  }
  return problem;
}

int64_t TakeShares(int64_t bytes, int shares) {
  return static_cast<int64_t>(static_cast<__int128>(bytes) * shares / kShares);
}

// The gradients take so many shares of the sum. A plan that has both within the
// limit is within it at any weight.
PlanProblem WeighGradients(const MeasuredProblem& measured, int weight) {
  PlanProblem problem = measured.problem;
  for (size_t t = 0; t < problem.types.size(); ++t) {
    std::vector<problem::Config>& configs = problem.types[t].configs;
    for (size_t c = 0; c < configs.size(); ++c) {
      const formulation::TimelineBytes& bytes = measured.timeline[t][c];
      problem::Config& config = configs[c];
      const int64_t kept = TakeShares(bytes.copied, kShares - weight);
      config.persistent_bytes =
          std::max<int64_t>(0, config.persistent_bytes - bytes.copied + kept);
      config.saved_bytes = TakeShares(config.saved_bytes, kShares - weight) +
                           TakeShares(2 * bytes.reduced, weight);
      config.transient_bytes =
          TakeShares(config.transient_bytes, kShares - weight);
    }
  }
  return problem;
}

// A plan's sum is at most that above what runs need of it.
int64_t FindMaxTransient(const PlanProblem& problem) {
  int64_t transient = 0;
  for (const problem::NodeType& type : problem.types) {
    for (const problem::Config& config : type.configs) {
      transient = std::max(transient, config.transient_bytes);
    }
  }
  return transient;
}

// Of a search after another one: pairs that tables forbid may hide whether a
// plan is left within its limit.
absl::Status IgnoreNoAnswer(const absl::Status& status) {
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

// Searches that count the gradients, and what they have found.
class GradientSearch {
 public:
  // The problem limits memory; the references outlive it.
  GradientSearch(const MeasuredProblem& measured,
                 const search::Options& options)
      : measured_(measured),
        options_(options),
        limit_(*measured.problem.memory_limit_bytes),
        forbidden_(ListTooLarge(measured, limit_)) {}

  absl::Status Run() {
    // What is left out may be why a search ends without an answer.
    RETURN_IF_ERROR(IgnoreNoAnswer(SearchCounted()));
    const bool left_out = forbidden_ != measured_.problem.forbidden;
    return !fastest_.has_value() && left_out ? FindSmallest()
                                             : absl::OkStatus();
  }

  const std::optional<search::Plan>& fastest() const { return fastest_; }
  const std::optional<int64_t>& least_bytes() const { return least_bytes_; }
  // Of the plans that have their sum and their gradients within the limit.
  Picoseconds bound() const { return bound_; }

 private:
  absl::Status SearchCounted() {
    PlanProblem counted = CountGradients(measured_);
    counted.forbidden = forbidden_;
    ASSIGN_OR_RETURN(const search::Answer answer,
                     SearchAtAll(counted, options_));
    if (!answer.plan.has_value()) return absl::OkStatus();
    Meet(*answer.plan);
    return SearchWeights();
  }

  absl::Status SearchWeights() {
    const int64_t slack = FindMaxTransient(measured_.problem);
    int low = 0;
    int high = kShares;
    while (high - low > 1 && !options_.deadline.HasPassed()) {
      const int weight = (low + high) / 2;
      PlanProblem problem = WeighGradients(measured_, weight);
      problem.forbidden = forbidden_;
      ASSIGN_OR_RETURN(search::Answer answer, search::Solve(problem, options_));
      bound_ = std::max(bound_, answer.lower_bound);
      if (answer.plan.has_value() && Meet(*answer.plan)) break;
      if (!fastest_.has_value()) {
        problem.memory_limit_bytes = 0;
        ASSIGN_OR_RETURN(search::Answer least, SearchAtAll(problem, options_));
        if (!least.plan.has_value()) break;
        Meet(*least.plan);
        // No plan's peak is within the limit.
        if (least.plan->peak_bytes - slack > limit_) break;
        if (!answer.plan.has_value()) answer = std::move(least);
      }
      // A plan that fits is known, and none whose sum and gradients do.
      if (!answer.plan.has_value()) break;
      const PeakParts parts =
          formulation::FindPeakParts(measured_, answer.plan->choice);
      (parts.reducing > parts.running ? low : high) = weight;
    }
    return absl::OkStatus();
  }

  // The smallest plan may be made of what no plan within the limit has.
  absl::Status FindSmallest() {
    PlanProblem counted = CountGradients(measured_);
    counted.memory_limit_bytes = 0;
    ASSIGN_OR_RETURN(const search::Answer answer,
                     SearchAtAll(counted, options_));
    if (answer.plan.has_value()) Meet(*answer.plan);
    return absl::OkStatus();
  }

  // Whether the plan fits.
  bool Meet(search::Plan plan) {
    plan.peak_bytes = formulation::FindPeakBytes(measured_, plan.choice);
    least_bytes_ =
        std::min(plan.peak_bytes, least_bytes_.value_or(plan.peak_bytes));
    if (plan.peak_bytes > limit_) return false;
    if (!fastest_.has_value() || plan.time < fastest_->time) {
      fastest_ = std::move(plan);
    }
    return true;
  }

  const MeasuredProblem& measured_;
  const search::Options& options_;
  const int64_t limit_;
  const ConfigsByNode forbidden_;
  std::optional<search::Plan> fastest_;
  std::optional<int64_t> least_bytes_;
  Picoseconds bound_{0};
};

// Of the plans whose sum is within the limit; 0 where none is known.
absl::StatusOr<Picoseconds> FindBound(const PlanProblem& problem,
                                      const search::Options& options) {
  const absl::StatusOr<search::Answer> answer = search::Solve(problem, options);
  RETURN_IF_ERROR(IgnoreNoAnswer(answer.status()));
  return answer.ok() ? answer->lower_bound : Picoseconds(0);
}

// `best` has no plan.
absl::Status SearchGradients(const MeasuredProblem& measured,
                             const search::Options& options,
                             WithinMemory& best) {
  GradientSearch search(measured, options);
  RETURN_IF_ERROR(IgnoreNoAnswer(search.Run()));
  search::Answer& answer = best.answer;
  if (search.least_bytes().has_value()) {
    answer.least_memory_bytes =
        std::min(*search.least_bytes(),
                 answer.least_memory_bytes.value_or(*search.least_bytes()));
  }
  if (!search.fastest().has_value()) return absl::OkStatus();
  answer.plan = search.fastest();
  PlanProblem problem = measured.problem;
  ASSIGN_OR_RETURN(const problem::Evaluation sum,
                   problem::Evaluate(problem, answer.plan->choice));
  Picoseconds bound = std::max(answer.lower_bound, search.bound());
  // The plan's own sum may exceed all limits searched, whose bounds do not
  // cover it then.
  if (sum.peak_bytes > *problem.memory_limit_bytes) {
    problem.memory_limit_bytes = sum.peak_bytes;
    ASSIGN_OR_RETURN(const Picoseconds wider, FindBound(problem, options));
    bound = std::min(answer.lower_bound, wider);
  }
  answer.lower_bound = std::min(bound, answer.plan->time);
  best.sum_limit_bytes = problem.memory_limit_bytes;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WithinMemory> SearchWithinMemory(
    const MeasuredProblem& measured, const search::Options& options) {
  PlanProblem problem = measured.problem;
  const std::optional<int64_t> limit = problem.memory_limit_bytes;
  ASSIGN_OR_RETURN(search::Answer answer, SearchAtAll(problem, options));
  WithinMemory best{answer, limit};
  best.answer.plan.reset();
  for (int searches = 1; answer.plan.has_value(); ++searches) {
    search::Plan& plan = *answer.plan;
    const int64_t sum = plan.peak_bytes;
    plan.peak_bytes = formulation::FindPeakBytes(measured, plan.choice);
    std::optional<search::Plan>& fastest = best.answer.plan;
    const bool fits = !limit.has_value() || plan.peak_bytes <= *limit;
    const Picoseconds bound =
        std::min(best.answer.lower_bound, answer.lower_bound);
    if (fits && (!fastest.has_value() || plan.time < fastest->time)) {
      best = {answer, problem.memory_limit_bytes};
    } else if (!fits && !fastest.has_value()) {
      best.answer.least_memory_bytes =
          searches == 1
              ? plan.peak_bytes
              : std::min(plan.peak_bytes, *best.answer.least_memory_bytes);
    }
    best.answer.lower_bound = bound;
    if (!limit.has_value()) break;
    const int64_t next = std::max<int64_t>(0, *limit + (sum - plan.peak_bytes));
    // Only a wider limit has a faster plan, only a narrower one that fits.
    const bool may_gain =
        fits ? next > *problem.memory_limit_bytes
             : !fastest.has_value() && next < *problem.memory_limit_bytes;
    if (!may_gain || searches == kMaxSearches || options.deadline.HasPassed()) {
      break;
    }
    problem.memory_limit_bytes = next;
    absl::StatusOr<search::Answer> found = search::Solve(problem, options);
    RETURN_IF_ERROR(IgnoreNoAnswer(found.status()));
    if (!found.ok()) break;
    answer = *std::move(found);
  }
  if (best.answer.plan.has_value() || !limit.has_value()) return best;
  RETURN_IF_ERROR(SearchGradients(measured, options, best));
  return best;
}

}  // namespace meshwright::planning
