#include "planner/search/testing/exhaustive.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "planner/problem/allowed.h"

namespace meshwright::search {
namespace {

using problem::Choice;
using problem::PlanProblem;

using Wide = __int128;

constexpr Wide kLargest = std::numeric_limits<int64_t>::max();

// Copy after copy in file order, each through its configurations in rising
// order, so that plans are met in lexicographic order; what forbidden pairs cut
// off is not visited. Figures are those of problem/evaluate.h.
class Enumeration {
 public:
  explicit Enumeration(const PlanProblem& problem)
      : problem_(problem),
        limit_(problem::ComputeUsableBytes(problem)),
        self_(problem.types.size(), -1),
        edges_(problem.nodes.size()) {
    for (const problem::SelfEdge& edge : problem.self_edges) {
      self_[edge.type] = edge.table;
    }
    for (size_t n = 0; n < problem.nodes.size(); ++n) {
      choice_.emplace_back(problem.nodes[n].repeat, 0);
      allowed_.push_back(
          problem::ListAllowedConfigs(problem, static_cast<int>(n)));
    }
    // An edge counts once both its ends are chosen.
    for (const problem::Edge& edge : problem.edges) {
      edges_[std::max(edge.from, edge.to)].push_back(&edge);
    }
  }

  Exhaustive Run() {
    Visit(0, 0, {});
    return std::move(best_);
  }

 private:
  struct Sums {
    Wide time = 0;
    Wide bytes = 0;
    int64_t transient = 0;
  };

  void Visit(size_t node, size_t copy, const Sums& before) {
    if (node == choice_.size()) return Finish(before);
    std::vector<int>& copies = choice_[node];
    if (copy == copies.size()) {
      Sums sums = before;
      for (const problem::Edge* edge : edges_[node]) {
        if (!AddEntry(edge->table, choice_[edge->from].back(),
                      choice_[edge->to].front(), sums)) {
          return;
        }
      }
      return Visit(node + 1, 0, sums);
    }
    if (problem_.nodes[node].tied && copy > 0) {
      copies[copy] = copies[0];
      return Take(node, copy, before);
    }
    for (const int config : allowed_[node]) {
      copies[copy] = config;
      Take(node, copy, before);
    }
  }

  void Take(size_t node, size_t copy, Sums sums) {
    const int type = problem_.nodes[node].type;
    const std::vector<int>& copies = choice_[node];
    const problem::Config& config = problem_.types[type].configs[copies[copy]];
    sums.time += config.time.count();
    sums.bytes += config.persistent_bytes;
    sums.bytes += config.saved_bytes;
    sums.transient = std::max(sums.transient, config.transient_bytes);
    if (copy > 0 && self_[type] >= 0 &&
        !AddEntry(self_[type], copies[copy - 1], copies[copy], sums)) {
      return;
    }
    Visit(node, copy + 1, sums);
  }

  // False where the pair is forbidden.
  bool AddEntry(int table, int from, int to, Sums& sums) const {
    const auto& entry = problem_.tables[table].at(from, to);
    if (entry.has_value()) sums.time += entry->count();
    return entry.has_value();
  }

  void Finish(const Sums& sums) {
    const Wide peak = sums.bytes + sums.transient;
    if (sums.time > kLargest || peak > kLargest) return;
    const auto bytes = static_cast<int64_t>(peak);
    best_.least_memory_bytes =
        std::min(best_.least_memory_bytes.value_or(bytes), bytes);
    if (bytes > limit_.value_or(bytes)) return;
    const problem::Picoseconds time(static_cast<int64_t>(sums.time));
    if (best_.choice.has_value() && time >= best_.time) return;
    best_.choice = choice_;
    best_.time = time;
  }

  const PlanProblem& problem_;
  const std::optional<int64_t> limit_;
  std::vector<int> self_;  // by type: its table; -1: none
  std::vector<std::vector<const problem::Edge*>> edges_;  // by their later end
  std::vector<std::vector<int>> allowed_;                 // by node
  Choice choice_;
  Exhaustive best_;
};

}  // namespace

Exhaustive SolveExhaustively(const PlanProblem& problem) {
  return Enumeration(problem).Run();
}

}  // namespace meshwright::search
