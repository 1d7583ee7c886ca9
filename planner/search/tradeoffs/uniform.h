// Uniform: the problem in which all nodes of a type take one configuration.
//
// Concept: one node per type, with what all its copies cost together; tables
// between two types add up. Such a problem is small at any depth, and solved
// exactly.
// In → Out: a valid problem → the uniform one, and back from its plans.
// Shapes: node i of the uniform problem stands for type `types[i]`.
#ifndef MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_UNIFORM_H_
#define MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_UNIFORM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/problem/plan_problem.h"

namespace meshwright::search {

struct Uniform {
  problem::PlanProblem problem;
  std::vector<int> types;       // by node: the type of the original
  std::vector<int64_t> copies;  // by node: of all nodes of the type
};

// Nothing where some type has no configuration that all of its copies allow.
std::optional<Uniform> MakeUniform(const problem::PlanProblem& problem);

// The plan of the original; `choice` is one of the uniform problem.
problem::Choice FromUniform(const problem::PlanProblem& problem,
                            const Uniform& uniform,
                            const problem::Choice& choice);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_UNIFORM_H_
