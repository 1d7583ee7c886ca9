// WriteProblem: a PlanProblem as JSON, for messages of tests.
//
// Concept: the `search` format of docs/formats/search.md. Reading what was
// written (problem_json.h) gives the same problem.
#ifndef MESHWRIGHT_PLANNER_PROBLEM_TESTING_WRITE_PROBLEM_H_
#define MESHWRIGHT_PLANNER_PROBLEM_TESTING_WRITE_PROBLEM_H_

#include <string>

#include "planner/problem/plan_problem.h"

namespace meshwright::problem {

std::string ProblemToJson(const PlanProblem& problem);

}  // namespace meshwright::problem

#endif  // MESHWRIGHT_PLANNER_PROBLEM_TESTING_WRITE_PROBLEM_H_
