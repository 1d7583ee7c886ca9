// RandomProblem: small problems for tests, made from a seed.
//
// In → Out: a seed and what may occur → a valid problem of at most some ten
// copies, so that the exhaustive oracle can solve it.
#ifndef MESHWRIGHT_PLANNER_SEARCH_TESTING_RANDOM_PROBLEM_H_
#define MESHWRIGHT_PLANNER_SEARCH_TESTING_RANDOM_PROBLEM_H_

#include <cstdint>

#include "planner/problem/plan_problem.h"

namespace meshwright::search {

enum class Skeleton {
  kChain,
  kHub,     // the first node is read by every other of a chain
  kLadder,  // a chain whose ends are joined, and inwards
  kDense,   // most pairs are joined
};

struct Kinds {
  bool skips = false;
  bool shuffled = false;
  bool tied = false;
  bool nulls = false;
  bool fixed = false;
  bool limit = false;
  bool gaps = false;  // disconnected components
  Skeleton skeleton = Skeleton::kChain;
  int nodes = 5;    // at most
  int copies = 6;   // some more may come with the last node
  int configs = 3;  // of a type, at most
};

problem::PlanProblem RandomProblem(uint64_t seed, const Kinds& kinds);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_TESTING_RANDOM_PROBLEM_H_
