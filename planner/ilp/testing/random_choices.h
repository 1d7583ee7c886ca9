// RandomMultipleChoice and SolveExhaustively: problems for tests, and their
// oracle.
//
// In → Out: a seed and what may occur → a valid problem of few choices.
#ifndef MESHWRIGHT_PLANNER_ILP_TESTING_RANDOM_CHOICES_H_
#define MESHWRIGHT_PLANNER_ILP_TESTING_RANDOM_CHOICES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/ilp/multiple_choice.h"

namespace meshwright::ilp {

struct Shape {
  int groups = 5;
  int options = 4;  // at most
  int64_t costs = 20;
  int64_t weights = 20;
  bool forbidden = false;
  int budgets = 0;
  bool transients = false;
};

MultipleChoice RandomMultipleChoice(uint64_t seed, const Shape& shape);

// The least cost over all choices; empty if none is allowed.
std::optional<int64_t> LeastCost(const MultipleChoice& problem);

}  // namespace meshwright::ilp

#endif  // MESHWRIGHT_PLANNER_ILP_TESTING_RANDOM_CHOICES_H_
