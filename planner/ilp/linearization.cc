#include "planner/ilp/linearization.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

namespace meshwright::ilp {
namespace {

constexpr int kCostBits = 17;
constexpr int kDigitBits = 12;
constexpr int64_t kBase = int64_t{1} << kDigitBits;
constexpr int kCoarseBits = 20;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// By how many bits figures up to `largest` are too large.
int FindShift(int64_t largest) {
  const auto bits = std::bit_width(static_cast<uint64_t>(largest));
  return std::max(0, static_cast<int>(bits) - kCostBits);
}

int64_t FindLargest(const Figures& figures) {
  int64_t largest = 0;
  for (const auto& group : figures) {
    for (const int64_t figure : group) largest = std::max(largest, figure);
  }
  return largest;
}

class Builder {
 public:
  explicit Builder(const MultipleChoice& problem) : problem_(problem) {
    int64_t largest = FindLargest(problem.costs);
    for (const Pair& pair : problem.pairs) {
      for (const auto& entry : pair.costs) {
        largest = std::max(largest, entry.value_or(0));
      }
    }
    made_.cost_shift = FindShift(largest);
  }

  Linearization Build(const base::Deadline& deadline) {
    for (int g = 0; g < problem_.groups(); ++g) AddGroup(g);
    for (const Pair& pair : problem_.pairs) {
      if (deadline.HasPassed()) break;
      AddPair(pair);
    }
    for (const Budget& budget : problem_.budgets) AddBudget(budget);
    return std::move(made_);
  }

 private:
  int AddColumn(const Linearization::Column& column) {
    made_.columns.push_back(column);
    return static_cast<int>(made_.columns.size()) - 1;
  }

  double ScaleCost(int64_t cost) const {
    return std::ldexp(static_cast<double>(cost), -made_.cost_shift);
  }

  void AddGroup(int g) {
    Linearization::Row one{.lower = 1, .upper = 1};
    made_.first_of_group.push_back(static_cast<int>(made_.columns.size()));
    for (const int64_t cost : problem_.costs[g]) {
      one.entries.push_back(
          {AddColumn({.cost = ScaleCost(cost), .is_integer = true}), 1});
    }
    made_.rows.push_back(std::move(one));
  }

  void AddPair(const Pair& pair) {
    const int rows = problem_.options(pair.a);
    const int columns = problem_.options(pair.b);
    std::vector<Linearization::Row> marginals(rows + columns);
    for (int i = 0; i < rows; ++i) {
      marginals[i].entries = {{made_.first_of_group[pair.a] + i, -1}};
    }
    for (int j = 0; j < columns; ++j) {
      marginals[rows + j].entries = {{made_.first_of_group[pair.b] + j, -1}};
    }
    std::vector<std::optional<int>>& made =
        made_.columns_of_pair.emplace_back();
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        const auto& entry = problem_.at(pair, i, j);
        made.emplace_back();
        if (!entry.has_value()) continue;
        made.back() = AddColumn({.cost = ScaleCost(*entry)});
        marginals[i].entries.push_back({*made.back(), 1});
        marginals[rows + j].entries.push_back({*made.back(), 1});
      }
    }
    std::move(marginals.begin(), marginals.end(),
              std::back_inserter(made_.rows));
  }

  struct Weight {
    int column = 0;
    int64_t weight = 0;
  };

  // The lightest option of a group counts for nothing, and the limit for as
  // much less.
  void AddBudget(const Budget& budget) {
    std::vector<Weight> weights;
    int64_t limit = budget.limit;
    int64_t most = 0;
    for (int g = 0; g < problem_.groups(); ++g) {
      const auto [least, largest] = std::minmax_element(
          budget.weights[g].begin(), budget.weights[g].end());
      limit -= *least;
      most += *largest - *least;
      for (int o = 0; o < problem_.options(g); ++o) {
        const int64_t weight = budget.weights[g][o] - *least;
        if (weight == 0) continue;
        weights.push_back({made_.first_of_group[g] + o, weight});
      }
    }
    if (!budget.transients.empty()) {
      most += AddTransients(budget.transients, weights, limit);
    }
    if (most <= limit) return;
    AddDigits(weights, limit);
    AddCoarse(weights, limit);
  }

  // What the digits say together but for what is less than a unit: one row with
  // no column but those that are chosen, of which a solver makes cuts.
  void AddCoarse(const std::vector<Weight>& weights, int64_t limit) {
    int64_t largest = 0;
    for (const Weight& weight : weights) {
      largest = std::max(largest, weight.weight);
    }
    const int shift =
        std::bit_width(static_cast<uint64_t>(largest)) - kCoarseBits;
    if (largest <= kBase || shift <= 0) return;
    Linearization::Row row{.lower = -kInfinity,
                           .upper = static_cast<double>(limit >> shift) + 0.5};
    for (const Weight& weight : weights) {
      const int64_t units = weight.weight >> shift;
      if (units == 0) continue;
      row.entries.push_back({weight.column, static_cast<double>(units)});
    }
    made_.rows.push_back(std::move(row));
  }

  // Returns how much more than the least transient the largest may be.
  int64_t AddTransients(const Figures& transients, std::vector<Weight>& weights,
                        int64_t& limit) {
    int64_t least = 0;  // no choice's largest is below
    for (const auto& group : transients) {
      least = std::max(least, *std::min_element(group.begin(), group.end()));
    }
    limit -= least;
    std::vector<int64_t> levels;
    for (const auto& group : transients) {
      std::copy_if(group.begin(), group.end(), std::back_inserter(levels),
                   [&](int64_t transient) { return transient > least; });
    }
    std::sort(levels.begin(), levels.end());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    int64_t before = least;
    int above = -1;  // the step before
    for (const int64_t level : levels) {
      const int step = AddColumn({.is_integer = true});
      weights.push_back({step, level - before});
      before = level;
      if (above >= 0) {
        made_.rows.push_back({.lower = 0,
                              .upper = kInfinity,
                              .entries = {{above, 1}, {step, -1}}});
      }
      above = step;
      made_.steps.push_back({step, {}});
      for (int g = 0; g < problem_.groups(); ++g) {
        AskForStep(transients[g], g, level, step);
      }
    }
    return before - least;
  }

  void AskForStep(const std::vector<int64_t>& transients, int g, int64_t level,
                  int step) {
    Linearization::Row row{
        .lower = 0, .upper = kInfinity, .entries = {{step, 1}}};
    bool is_level = false;  // else the next level of the group asks for more
    for (int o = 0; o < problem_.options(g); ++o) {
      if (transients[o] < level) continue;
      is_level = is_level || transients[o] == level;
      const int column = made_.first_of_group[g] + o;
      made_.steps.back().options.push_back(column);
      row.entries.push_back({column, -1});
    }
    if (is_level) made_.rows.push_back(std::move(row));
  }

  void AddDigits(std::vector<Weight> weights, int64_t limit) {
    int carry = -1;
    while (true) {
      int64_t largest = 0;
      for (const Weight& weight : weights) {
        largest = std::max(largest, weight.weight);
      }
      const bool is_last = largest <= kBase;
      Linearization::Row row{
          .lower = -kInfinity,
          .upper = static_cast<double>(is_last ? limit : limit % kBase)};
      for (Weight& weight : weights) {
        const int64_t digit = is_last ? weight.weight : weight.weight % kBase;
        weight.weight /= kBase;
        if (digit == 0) continue;
        row.entries.push_back({weight.column, static_cast<double>(digit)});
      }
      limit /= kBase;
      if (carry >= 0) row.entries.push_back({carry, 1});
      if (!is_last) {
        carry = AddColumn({.upper = static_cast<double>(weights.size() + 1),
                           .is_integer = true});
        row.entries.push_back({carry, -static_cast<double>(kBase)});
        made_.carries.push_back({carry, static_cast<int>(made_.rows.size())});
      }
      made_.rows.push_back(std::move(row));
      if (is_last) return;
    }
  }

  const MultipleChoice& problem_;
  Linearization made_;
};

}  // namespace

Linearization Linearize(const MultipleChoice& problem,
                        const base::Deadline& deadline) {
  return Builder(problem).Build(deadline);
}

std::vector<double> ToValues(const MultipleChoice& problem,
                             const Linearization& linear,
                             const std::vector<int>& choice) {
  std::vector<double> values(linear.columns.size(), 0);
  for (int g = 0; g < problem.groups(); ++g) {
    values[linear.first_of_group[g] + choice[g]] = 1;
  }
  for (size_t p = 0; p < problem.pairs.size(); ++p) {
    const Pair& pair = problem.pairs[p];
    const size_t entry =
        static_cast<size_t>(choice[pair.a]) * problem.options(pair.b) +
        choice[pair.b];
    values[*linear.columns_of_pair[p][entry]] = 1;
  }
  for (const Linearization::Step& step : linear.steps) {
    for (const int option : step.options) {
      values[step.column] = std::max(values[step.column], values[option]);
    }
  }
  for (const auto& [column, r] : linear.carries) {
    const Linearization::Row& row = linear.rows[r];
    double over = -row.upper;
    for (const Linearization::Entry& entry : row.entries) {
      over += entry.value * values[entry.column];
    }
    values[column] = std::max(0.0, std::ceil(std::ldexp(over, -kDigitBits)));
  }
  return values;
}

std::vector<int> ToChoice(const MultipleChoice& problem,
                          const Linearization& linear,
                          const std::vector<double>& values) {
  std::vector<int> choice;
  for (int g = 0; g < problem.groups(); ++g) {
    const auto first = values.begin() + linear.first_of_group[g];
    choice.push_back(static_cast<int>(
        std::max_element(first, first + problem.options(g)) - first));
  }
  return choice;
}

}  // namespace meshwright::ilp
