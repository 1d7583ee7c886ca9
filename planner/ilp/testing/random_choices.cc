#include "planner/ilp/testing/random_choices.h"

#include <algorithm>
#include <random>
#include <utility>

namespace meshwright::ilp {

MultipleChoice RandomMultipleChoice(uint64_t seed, const Shape& shape) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t bound) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
  };
  MultipleChoice problem;
  for (int g = 0; g < shape.groups; ++g) {
    std::vector<int64_t>& costs = problem.costs.emplace_back();
    for (int64_t o = below(shape.options); o >= 0; --o) {
      costs.push_back(below(shape.costs));
    }
  }
  for (int a = 0; a < shape.groups; ++a) {
    for (int b = a + 1; b < shape.groups; ++b) {
      if (b > a + 1 && below(3) > 0) continue;
      Pair pair{.a = a, .b = b};
      if (below(2) == 0) std::swap(pair.a, pair.b);
      for (int i = problem.options(a) * problem.options(b); i > 0; --i) {
        pair.costs.push_back(below(shape.costs));
        if (shape.forbidden && below(4) == 0) pair.costs.back().reset();
      }
      problem.pairs.push_back(pair);
    }
  }
  const auto figures = [&] {
    Figures made;
    for (const auto& costs : problem.costs) {
      made.emplace_back();
      for (size_t o = 0; o < costs.size(); ++o) {
        made.back().push_back(below(shape.weights));
      }
    }
    return made;
  };
  for (int b = 0; b < shape.budgets; ++b) {
    problem.budgets.push_back(
        {.limit = shape.weights * shape.groups / 4 +
                  below(shape.weights * shape.groups / 2),
         .weights = figures(),
         .transients = shape.transients ? figures() : Figures()});
  }
  return problem;
}

std::optional<int64_t> LeastCost(const MultipleChoice& problem) {
  std::vector<int> choice(problem.groups(), 0);
  std::optional<int64_t> least;
  while (true) {
    const std::optional<int64_t> cost = ComputeCost(problem, choice);
    if (cost.has_value()) least = std::min(least.value_or(*cost), *cost);
    int g = 0;
    while (g < problem.groups() && ++choice[g] == problem.options(g)) {
      choice[g++] = 0;
    }
    if (g == problem.groups()) return least;
  }
}

}  // namespace meshwright::ilp
