#include "planner/problem/uncertainty.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "base/status_macros.h"
#include "planner/problem/evaluate.h"

namespace meshwright::problem {
namespace {

// How often a plan uses each measurement; signed, so that two can be
// subtracted.
class Uses {
 public:
  explicit Uses(const PlanProblem& problem)
      : problem_(problem), self_(problem.types.size()) {
    for (const NodeType& type : problem.types) {
      configs_.emplace_back(type.configs.size(), 0);
    }
    for (const SelfEdge& edge : problem.self_edges) {
      self_[edge.type] = edge.table;
    }
  }

  void Add(const Choice& choice, int64_t times) {
    for (size_t n = 0; n < choice.size(); ++n) {
      const int type = problem_.nodes[n].type;
      for (size_t copy = 0; copy < choice[n].size(); ++copy) {
        configs_[type][choice[n][copy]] += times;
        if (copy == 0 || !self_[type].has_value()) continue;
        entries_[{*self_[type], choice[n][copy - 1], choice[n][copy]}] += times;
      }
    }
    for (const Edge& edge : problem_.edges) {
      entries_[{edge.table, choice[edge.from].back(),
                choice[edge.to].front()}] += times;
    }
  }

  NoiseInterval Sum() const {
    Squares sum;
    for (size_t t = 0; t < configs_.size(); ++t) {
      for (size_t c = 0; c < configs_[t].size(); ++c) {
        sum.Add(configs_[t][c], problem_.types[t].configs[c].noise);
      }
    }
    for (const auto& [at, uses] : entries_) {
      sum.Add(uses, problem_.tables[at[0]].NoiseAt(at[1], at[2]));
    }
    return sum.Root();
  }

 private:
  struct Squares {
    double below = 0;
    double above = 0;

    // Subtracted times err the other way.
    void Add(int64_t uses, const NoiseInterval& noise) {
      const double times = std::abs(static_cast<double>(uses));
      const double down = times * static_cast<double>(noise.below.count());
      const double up = times * static_cast<double>(noise.above.count());
      below += uses < 0 ? up * up : down * down;
      above += uses < 0 ? down * down : up * up;
    }

    static Picoseconds Root(double square) {
      const double longest = static_cast<double>(kMaxTime.count());
      return Picoseconds(std::llround(std::min(std::sqrt(square), longest)));
    }
    NoiseInterval Root() const { return {Root(below), Root(above)}; }
  };

  const PlanProblem& problem_;
  std::vector<std::optional<int>> self_;  // by type: its table
  std::vector<std::vector<int64_t>> configs_;
  std::map<std::array<int, 3>, int64_t> entries_;
};

}  // namespace

bool IsUncertain(const PlanProblem& problem) {
  const auto any = [](const auto& list, const auto& get_noise) {
    return std::any_of(list.begin(), list.end(), [&](const auto& it) {
      return get_noise(it) != NoiseInterval();
    });
  };
  for (const NodeType& type : problem.types) {
    if (any(type.configs, [](const Config& it) { return it.noise; })) {
      return true;
    }
  }
  for (const Table& table : problem.tables) {
    if (any(table.noise, [](const NoiseInterval& it) { return it; }))
      return true;
  }
  return false;
}

absl::StatusOr<NoiseInterval> EstimateNoise(const PlanProblem& problem,
                                            const Choice& choice) {
  ASSIGN_OR_RETURN(const Evaluation evaluation, Evaluate(problem, choice));
  Uses uses(problem);
  uses.Add(choice, 1);
  NoiseInterval noise = uses.Sum();
  noise.below = std::min(noise.below, evaluation.time);
  return noise;
}

absl::StatusOr<NoiseInterval> EstimateNoiseBetween(const PlanProblem& problem,
                                                   const Choice& a,
                                                   const Choice& b) {
  RETURN_IF_ERROR(Evaluate(problem, a).status());
  RETURN_IF_ERROR(Evaluate(problem, b).status());
  Uses uses(problem);
  uses.Add(b, 1);
  uses.Add(a, -1);
  return uses.Sum();
}

}  // namespace meshwright::problem
