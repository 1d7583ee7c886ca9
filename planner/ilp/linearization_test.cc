#include "planner/ilp/linearization.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "planner/ilp/testing/random_choices.h"

namespace meshwright::ilp {
namespace {

double Activity(const Linearization::Row& row,
                const std::vector<double>& values) {
  double sum = 0;
  for (const Linearization::Entry& entry : row.entries) {
    sum += entry.value * values[entry.column];
  }
  return sum;
}

// A choice keeps to the rows if and only if it keeps to the budgets.
TEST(LinearizationTest, RowsSayWhatTheBudgetsSay) {
  int kept = 0;
  int broken = 0;
  for (int seed = 0; seed < 600; ++seed) {
    const MultipleChoice problem = RandomMultipleChoice(
        seed, {.weights = seed % 2 == 0 ? 20 : int64_t{1} << (seed % 46),
               .budgets = 1 + seed % 2,
               .transients = seed % 3 > 0});
    const Linearization linear = Linearize(problem);
    std::vector<int> choice;
    for (int g = 0; g < problem.groups(); ++g) {
      choice.push_back((seed / 7 + g) % problem.options(g));
    }
    const std::vector<double> values = ToValues(problem, linear, choice);
    EXPECT_EQ(ToChoice(problem, linear, values), choice);
    double cost = 0;
    bool holds = true;
    for (size_t c = 0; c < values.size(); ++c) {
      cost += values[c] * linear.columns[c].cost;
      EXPECT_GE(values[c], linear.columns[c].lower);
      EXPECT_LE(values[c], linear.columns[c].upper);
    }
    for (const Linearization::Row& row : linear.rows) {
      const double activity = Activity(row, values);
      holds = holds && activity >= row.lower && activity <= row.upper;
    }
    const std::optional<int64_t> exact = ComputeCost(problem, choice);
    ASSERT_EQ(holds, exact.has_value()) << seed;
    holds ? ++kept : ++broken;
    if (holds) {
      ASSERT_EQ(std::ldexp(cost, linear.cost_shift), *exact);
    }
  }
  EXPECT_GT(kept, 100);
  EXPECT_GT(broken, 50);
}

TEST(LinearizationTest, CoefficientsAreSmallAndExact) {
  MultipleChoice problem = RandomMultipleChoice(3, {.costs = int64_t{1} << 45,
                                                    .weights = int64_t{1} << 48,
                                                    .budgets = 1,
                                                    .transients = true});
  const Linearization linear = Linearize(problem);
  for (const Linearization::Column& column : linear.columns) {
    EXPECT_LE(column.cost, 1 << 17);
  }
  EXPECT_GT(linear.carries.size(), 0);
  int coarse = 0;
  for (const Linearization::Row& row : linear.rows) {
    double largest = 0;
    for (const Linearization::Entry& entry : row.entries) {
      largest = std::max(largest, std::abs(entry.value));
      EXPECT_EQ(entry.value, std::round(entry.value));
    }
    EXPECT_LT(largest, 1 << 20);
    if (largest <= 1 << 12) continue;
    ++coarse;
    // No carry is in it.
    for (const auto& [column, digits] : linear.carries) {
      for (const Linearization::Entry& entry : row.entries) {
        EXPECT_NE(entry.column, column);
      }
    }
  }
  EXPECT_EQ(coarse, 1);
  EXPECT_EQ(std::ldexp(linear.columns[0].cost, linear.cost_shift),
            problem.costs[0][0]);
}

}  // namespace
}  // namespace meshwright::ilp
