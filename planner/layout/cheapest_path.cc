#include "planner/layout/cheapest_path.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "planner/layout/bound.h"
#include "planner/layout/greedy_path.h"
#include "planner/layout/one_step.h"

namespace meshwright::layout {
namespace {

// A spec that was reached.
struct Node {
  PackedStep step;  // the last of the best path here; its key is this spec's
  int64_t time = 0;
  int64_t bound = 0;
  int steps = 0;
  std::optional<int> parent;
  bool done = false;
};

struct Waiting {
  int64_t estimate = 0;  // time + bound
  int steps = 0;
  int node = 0;

  // The bound is consistent and every step counts, so whatever could still
  // improve a node, or tie with it, leaves the queue before it.
  bool operator>(const Waiting& other) const {
    return std::tie(estimate, steps, node) >
           std::tie(other.estimate, other.steps, other.node);
  }
};

class Search {
 public:
  Search(const LayoutProblem& problem, const Tiling& tiling,
         const SearchOptions& options)
      : options_(options),
        tiling_(tiling),
        source_(tiling.Pack(problem.source)),
        target_(tiling.Pack(problem.target)),
        one_step_(problem, tiling),
        bound_(problem, tiling, target_, options.deadline) {
    nodes_.reserve(256);
    index_.reserve(256);
  }

  // Until the best path is known, or the options say stop.
  void Run() {
    PackedStep start;
    start.key = tiling_.Key(source_);
    const absl::uint128 goal = tiling_.Key(target_);
    Reach(std::nullopt, start);
    int64_t tried = 0;
    while (!queue_.empty()) {
      const int at = queue_.top().node;
      if (nodes_[at].done) {
        queue_.pop();
        continue;
      }
      lower_bound_ = queue_.top().estimate;
      if (nodes_[at].step.key == goal) return;
      if (tried > options_.max_steps || options_.deadline.HasPassed()) {
        cut_short_ = true;
        return;
      }
      queue_.pop();
      nodes_[at].done = true;
      const PackedSpec spec = tiling_.FromKey(nodes_[at].step.key);
      const std::vector<PackedStep>& steps = one_step_.From(spec);
      for (const PackedStep& step : steps) Reach(at, step);
      tried += static_cast<int64_t>(steps.size());
    }
  }

  // The best way to the target that was met.
  std::optional<std::vector<PackedStep>> Steps() const {
    const auto goal = index_.find(tiling_.Key(target_));
    if (goal == index_.end()) return std::nullopt;
    return StepsTo(goal->second);
  }

  bool cut_short() const { return cut_short_; }
  int64_t lower_bound() const { return lower_bound_; }
  int64_t seen() const { return static_cast<int64_t>(nodes_.size()); }

 private:
  std::vector<PackedStep> StepsTo(int node) const {
    std::vector<PackedStep> steps;
    for (; nodes_[node].parent.has_value(); node = *nodes_[node].parent) {
      steps.push_back(nodes_[node].step);
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  void Reach(std::optional<int> from, const PackedStep& step) {
    const auto [found, fresh] =
        index_.try_emplace(step.key, static_cast<int>(nodes_.size()));
    const int at = found->second;
    if (!fresh && nodes_[at].done) return;
    const int64_t time =
        from.has_value() ? problem::SaturatingAdd(nodes_[*from].time, step.time)
                         : 0;
    const int steps = from.has_value() ? nodes_[*from].steps + 1 : 0;
    if (fresh) {
      const int64_t bound = bound_.From(tiling_.FromKey(step.key));
      nodes_.push_back({step, time, bound, steps, from});
    } else {
      Node& node = nodes_[at];
      if (std::tie(time, steps) > std::tie(node.time, node.steps)) return;
      const bool tie = time == node.time && steps == node.steps;
      if (tie && !Before(from, node.parent)) return;
      node = {step, time, node.bound, steps, from};
      if (tie) return;  // it waits at the right place
    }
    queue_.push({problem::SaturatingAdd(time, nodes_[at].bound), steps, at});
  }

  // Whether the specs on the way to `a` are smaller than those to `b`, which
  // is as many steps from the source.
  bool Before(std::optional<int> a, std::optional<int> b) const {
    bool before = false;
    while (a != b) {
      before = nodes_[*a].step.key < nodes_[*b].step.key;
      a = nodes_[*a].parent;
      b = nodes_[*b].parent;
    }
    return before;
  }

  const SearchOptions& options_;
  const Tiling& tiling_;
  const PackedSpec source_;
  const PackedSpec target_;
  OneStep one_step_;
  const Bound bound_;
  std::vector<Node> nodes_;
  absl::flat_hash_map<absl::uint128, int> index_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue_;
  int64_t lower_bound_ = 0;
  bool cut_short_ = false;
};

}  // namespace

absl::StatusOr<Conversion> FindCheapestPath(const LayoutProblem& problem,
                                            const SearchOptions& options) {
  const Tiling tiling(problem);
  Search search(problem, tiling, options);
  search.Run();
  Conversion conversion;
  conversion.specs_seen = search.seen();
  if (const auto steps = search.Steps(); steps.has_value()) {
    conversion.path = MakePath(problem, tiling, *steps);
  }
  if (search.cut_short()) {
    const std::optional<Path> greedy = FindGreedyPath(problem);
    if (greedy.has_value() && (!conversion.path.has_value() ||
                               greedy->time < conversion.path->time)) {
      conversion.path = greedy;
    }
    if (!conversion.path.has_value()) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the search was stopped after ", search.seen(),
          " shardings and met no path from source to target; give it more "
          "time or a mesh of fewer axes"));
    }
  }
  if (!conversion.path.has_value()) return conversion;
  conversion.lower_bound = Picoseconds(search.lower_bound());
  if (conversion.path->time > problem::kMaxTime) {
    return absl::OutOfRangeError(
        "the path from source to target takes over 23 days; check alpha and "
        "beta");
  }
  return conversion;
}

}  // namespace meshwright::layout
