#include "planner/ilp/dominance.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace meshwright::ilp {
namespace {

using Choices = std::vector<int>;

// Of pairs, still looked at after a stop: they take a moment, and raise the
// bound.
constexpr size_t kMoreEntries = 1 << 17;

class Dominance {
 public:
  Dominance(const MultipleChoice& problem, const base::Deadline& deadline)
      : problem_(problem), deadline_(deadline), pairs_of_(problem.groups()) {
    for (int g = 0; g < problem.groups(); ++g) {
      kept_.emplace_back(problem.options(g));
      std::iota(kept_.back().begin(), kept_.back().end(), 0);
    }
    for (size_t p = 0; p < problem.pairs.size(); ++p) {
      pairs_of_[problem.pairs[p].a].push_back(p);
      pairs_of_[problem.pairs[p].b].push_back(p);
    }
  }

  Undominated Run() {
    bool is_changed = true;
    while (is_changed) {
      is_changed = false;
      for (int g = 0; g < problem_.groups(); ++g) {
        if (deadline_.HasPassed()) return Rest();
        const size_t before = kept_[g].size();
        DropImpossible(g);
        DropDominated(g);
        is_changed = is_changed || kept_[g].size() != before;
        if (kept_[g].empty()) return {.is_possible = false};
      }
    }
    return Rest();
  }

 private:
  // What option `own` of group `g` and option `other` beyond cost together.
  const std::optional<int64_t>& Entry(int pair, int g, int own,
                                      int other) const {
    const Pair& at = problem_.pairs[pair];
    return at.a == g ? problem_.at(at, own, other)
                     : problem_.at(at, other, own);
  }

  const Choices& Beyond(int pair, int g) const {
    const Pair& at = problem_.pairs[pair];
    return kept_[at.a == g ? at.b : at.a];
  }

  int64_t Least(const Figures& figures, int g) const {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const int o : kept_[g]) least = std::min(least, figures[g][o]);
    return least;
  }

  void DropImpossible(int g) {
    std::erase_if(kept_[g], [&](int own) {
      return std::any_of(
          pairs_of_[g].begin(), pairs_of_[g].end(), [&](int pair) {
            const Choices& beyond = Beyond(pair, g);
            return std::none_of(beyond.begin(), beyond.end(), [&](int other) {
              return Entry(pair, g, own, other).has_value();
            });
          });
    });
    for (const Budget& budget : problem_.budgets) {
      int64_t others = 0;
      int64_t transient = 0;
      for (int h = 0; h < problem_.groups(); ++h) {
        if (h == g || kept_[h].empty()) continue;
        others += Least(budget.weights, h);
        if (budget.transients.empty()) continue;
        transient = std::max(transient, Least(budget.transients, h));
      }
      std::erase_if(kept_[g], [&](int own) {
        const int64_t most =
            budget.transients.empty()
                ? transient
                : std::max(transient, budget.transients[g][own]);
        return others + budget.weights[g][own] + most > budget.limit;
      });
    }
  }

  void DropDominated(int g) {
    Choices& options = kept_[g];
    for (size_t i = options.size(); i > 0; --i) {
      const int worse = options[i - 1];
      const bool is_dominated =
          std::any_of(options.begin(), options.end(), [&](int better) {
            return better != worse && Dominates(g, better, worse);
          });
      if (is_dominated) options.erase(options.begin() + (i - 1));
    }
  }

  bool Dominates(int g, int better, int worse) const {
    for (const Budget& budget : problem_.budgets) {
      if (budget.weights[g][better] > budget.weights[g][worse]) return false;
      if (!budget.transients.empty() &&
          budget.transients[g][better] > budget.transients[g][worse]) {
        return false;
      }
    }
    int64_t more = problem_.costs[g][better] - problem_.costs[g][worse];
    for (const int pair : pairs_of_[g]) {
      int64_t most = -kMaxSum;
      for (const int other : Beyond(pair, g)) {
        const auto& with_worse = Entry(pair, g, worse, other);
        if (!with_worse.has_value()) continue;
        const auto& with_better = Entry(pair, g, better, other);
        if (!with_better.has_value()) return false;
        most = std::max(most, *with_better - *with_worse);
      }
      more += most;
    }
    return more <= 0;
  }

  Undominated Rest() const {
    Undominated rest{.kept = kept_};
    rest.problem.costs = Kept(problem_.costs);
    size_t more = kMoreEntries;
    for (const Pair& pair : problem_.pairs) {
      if (deadline_.HasPassed()) {
        rest.is_whole = pair.costs.size() <= more;
        if (!rest.is_whole) break;
        more -= pair.costs.size();
      }
      AddPair(pair, rest);
    }
    for (std::vector<int64_t>& costs : rest.problem.costs) {
      const int64_t least = *std::min_element(costs.begin(), costs.end());
      for (int64_t& cost : costs) cost -= least;
      rest.base += least;
    }
    if (!rest.is_whole) return rest;
    for (const Budget& budget : problem_.budgets) {
      rest.problem.budgets.push_back(
          {.limit = budget.limit,
           .weights = Kept(budget.weights),
           .transients = budget.transients.empty() ? Figures()
                                                   : Kept(budget.transients)});
    }
    return rest;
  }

  Figures Kept(const Figures& figures) const {
    Figures part(kept_.size());
    for (size_t g = 0; g < kept_.size(); ++g) {
      for (const int o : kept_[g]) part[g].push_back(figures[g][o]);
    }
    return part;
  }

  // Moves what rows and columns cost at least to the costs of their options.
  void AddPair(const Pair& pair, Undominated& rest) const {
    Pair part{.a = pair.a, .b = pair.b};
    for (const int row : kept_[pair.a]) {
      for (const int column : kept_[pair.b]) {
        part.costs.push_back(problem_.at(pair, row, column));
      }
    }
    const size_t rows = kept_[pair.a].size();
    const size_t columns = kept_[pair.b].size();
    const auto move = [&](size_t count, size_t stride, size_t length,
                          size_t step, std::vector<int64_t>& costs) {
      for (size_t i = 0; i < count; ++i) {
        int64_t least = kMaxSum;
        for (size_t j = 0; j < length; ++j) {
          const auto& entry = part.costs[i * stride + j * step];
          if (entry.has_value()) least = std::min(least, *entry);
        }
        for (size_t j = 0; j < length; ++j) {
          auto& entry = part.costs[i * stride + j * step];
          if (entry.has_value()) *entry -= least;
        }
        costs[i] += least;
      }
    };
    move(rows, columns, columns, 1, rest.problem.costs[pair.a]);
    move(columns, 1, rows, columns, rest.problem.costs[pair.b]);
    const bool is_nothing =
        std::all_of(part.costs.begin(), part.costs.end(),
                    [](const std::optional<int64_t>& entry) {
                      return entry.has_value() && *entry == 0;
                    });
    if (!is_nothing) rest.problem.pairs.push_back(std::move(part));
  }

  const MultipleChoice& problem_;
  const base::Deadline& deadline_;
  std::vector<std::vector<int>> pairs_of_;  // by group
  std::vector<Choices> kept_;
};

}  // namespace

Undominated RemoveDominated(const MultipleChoice& problem,
                            const base::Deadline& deadline) {
  return Dominance(problem, deadline).Run();
}

}  // namespace meshwright::ilp
