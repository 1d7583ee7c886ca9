#include "planner/problem/explain.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "planner/problem/allowed.h"
#include "planner/problem/evaluate.h"

namespace meshwright::problem {
namespace {

// A table that a copy takes part in, the other side's choice held fixed.
struct Neighbour {
  const Table* table;
  int other;
  bool is_row;  // whether this copy indexes the rows

  const std::optional<Picoseconds>& Entry(int config) const {
    return is_row ? table->at(config, other) : table->at(other, config);
  }
};

class Explainer {
 public:
  Explainer(const PlanProblem& problem, const Choice& choice, int64_t peak)
      : problem_(problem),
        choice_(choice),
        peak_bytes_(peak),
        self_(problem.types.size(), nullptr),
        incoming_(problem.nodes.size()),
        outgoing_(problem.nodes.size()) {
    for (const SelfEdge& edge : problem.self_edges) {
      self_[edge.type] = &problem.tables[edge.table];
    }
    for (const Edge& edge : problem.edges) {
      const Table* table = &problem.tables[edge.table];
      outgoing_[edge.from].push_back({table, choice[edge.to].front(), true});
      incoming_[edge.to].push_back({table, choice[edge.from].back(), false});
    }
    for (size_t n = 0; n < choice.size(); ++n) {
      for (const int config : choice[n]) Rank(At(n, config).transient_bytes);
    }
  }

  Explanation Of(int node, int64_t copy) const {
    const bool tied = problem_.nodes[node].tied;
    Explanation explanation{
        .node = node, .copy = copy, .config = choice_[node][copy]};
    const std::vector<Neighbour> neighbours = Neighbours(node, copy);
    const auto now = Time(node, explanation.config, neighbours);
    if (!now.has_value()) return explanation;
    for (const int config : Allowed(node)) {
      if (config == explanation.config) continue;
      const auto time = Time(node, config, neighbours);
      if (!time.has_value()) continue;
      const RunnerUp move = Move(node, tied, explanation.config, config,
                                 Picoseconds(*time - *now));
      if (!explanation.runner_up.has_value() ||
          std::pair(!move.fits, move.saves) <
              std::pair(!explanation.runner_up->fits,
                        explanation.runner_up->saves)) {
        explanation.runner_up = move;
      }
    }
    return explanation;
  }

 private:
  const Config& At(int node, int config) const {
    return problem_.types[problem_.nodes[node].type].configs[config];
  }

  // Keeps the two largest transients, so that one copy can be taken out.
  void Rank(int64_t transient) {
    if (transient >= largest_) {
      second_ = std::exchange(largest_, transient);
    } else {
      second_ = std::max(second_, transient);
    }
  }

  std::vector<int> Allowed(int node) const {
    return AllowedConfigs(problem_, node);
  }

  std::vector<Neighbour> Neighbours(int node, int64_t copy) const {
    std::vector<Neighbour> found;
    const Node& described = problem_.nodes[node];
    const int64_t last = described.repeat - 1;
    const Table* self = self_[described.type];
    if (copy == 0) found = incoming_[node];
    if (copy == last || described.tied) {
      found.insert(found.end(), outgoing_[node].begin(), outgoing_[node].end());
    }
    if (described.tied || self == nullptr) return found;
    if (copy > 0) found.push_back({self, choice_[node][copy - 1], false});
    if (copy < last) found.push_back({self, choice_[node][copy + 1], true});
    return found;
  }

  std::optional<int64_t> Time(int node, int config,
                              const std::vector<Neighbour>& neighbours) const {
    const Node& described = problem_.nodes[node];
    const int64_t copies = described.tied ? described.repeat : 1;
    int64_t time = SaturatingMultiply(copies, At(node, config).time.count());
    const Table* self = self_[described.type];
    if (copies > 1 && self != nullptr) {
      const auto& entry = self->at(config, config);
      if (!entry.has_value()) return std::nullopt;
      time =
          SaturatingAdd(time, SaturatingMultiply(copies - 1, entry->count()));
    }
    for (const Neighbour& neighbour : neighbours) {
      const auto& entry = neighbour.Entry(config);
      if (!entry.has_value()) return std::nullopt;
      time = SaturatingAdd(time, entry->count());
    }
    return time;
  }

  RunnerUp Move(int node, bool tied, int from, int to,
                Picoseconds saves) const {
    const Config& before = At(node, from);
    const Config& after = At(node, to);
    const int64_t copies = tied ? problem_.nodes[node].repeat : 1;
    int64_t rest = before.transient_bytes == largest_ ? second_ : largest_;
    if (tied && copies > 1) rest = RestOf(node);
    __int128 peak = peak_bytes_;
    peak -= largest_;
    peak += static_cast<__int128>(copies) *
            (static_cast<__int128>(after.persistent_bytes) + after.saved_bytes -
             before.persistent_bytes - before.saved_bytes);
    peak += std::max(rest, after.transient_bytes);
    const __int128 held =
        std::min<__int128>(peak, std::numeric_limits<int64_t>::max());
    RunnerUp move{
        .config = to, .saves = saves, .peak_bytes = static_cast<int64_t>(held)};
    const std::optional<int64_t> limit = UsableBytes(problem_);
    move.fits = !limit.has_value() || move.peak_bytes <= *limit;
    return move;
  }

  // The largest transient of all other nodes.
  int64_t RestOf(int node) const {
    int64_t rest = 0;
    for (size_t n = 0; n < choice_.size(); ++n) {
      if (static_cast<int>(n) == node) continue;
      for (const int config : choice_[n]) {
        rest = std::max(rest, At(n, config).transient_bytes);
      }
    }
    return rest;
  }

  const PlanProblem& problem_;
  const Choice& choice_;
  int64_t peak_bytes_;
  std::vector<const Table*> self_;
  std::vector<std::vector<Neighbour>> incoming_;
  std::vector<std::vector<Neighbour>> outgoing_;
  int64_t largest_ = 0;
  int64_t second_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Explanation>> Explain(const PlanProblem& problem,
                                                 const Choice& choice) {
  ASSIGN_OR_RETURN(const Evaluation evaluation, Evaluate(problem, choice));
  const Explainer explainer(problem, choice, evaluation.peak_bytes);
  std::vector<Explanation> explanations;
  for (size_t n = 0; n < choice.size(); ++n) {
    const int64_t decisions =
        problem.nodes[n].tied ? 1 : problem.nodes[n].repeat;
    for (int64_t copy = 0; copy < decisions; ++copy) {
      explanations.push_back(explainer.Of(n, copy));
    }
  }
  return explanations;
}

}  // namespace meshwright::problem
