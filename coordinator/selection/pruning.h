// Pruning: which configurations of a problem no plan gains by.
//
// Concept: a measured configuration b excludes an estimated one a of its type
// in one case. Even the low end of a's estimate is no better, whatever the
// neighbours are:
//
//     t(b) + Bound(a, b)  <=  estimate(a) * (1 - margin)
//                                                     (substitution_bound.h)
// Then b can take the place of a in every plan of every depth, so that the
// fastest plan without a is the fastest plan. With a multiplier on memory the
// same holds for time + multiplier * bytes, of which the plan under a limit is
// about the optimum (memory_multiplier.h). A larger transient of b counts in
// full. Types that share parameters (shared_parameter_groups.h) are compared as
// if each copy decided for itself. There b takes the place of a at once if both
// split alike what is shared. If not, a is excluded if another decision has
// such a b for every configuration of a's decision, in every type of the group.
// A plan with a can then change all readers to that decision, copy by copy, and
// is never slower.
// In → Out: problem with measured and estimated configurations → exclusions,
// and the open ones to measure next, the most promising first. These are the
// ones that no open rival is expected to exclude once it is measured.
// Errors: none.
// Source: docs/decisions/pruning-by-halves.md.
#ifndef MESHWRIGHT_COORDINATOR_SELECTION_PRUNING_H_
#define MESHWRIGHT_COORDINATOR_SELECTION_PRUNING_H_

#include <vector>

#include "coordinator/problem/shared_parameter_groups.h"
#include "planner/problem/plan_problem.h"

namespace meshwright::selection {

enum class Standing {
  kMeasured,
  kEstimated,
  kUnknown  // neither: neither excludes nor is excluded
};

// By type and configuration of the problem.
using Standings = std::vector<std::vector<Standing>>;

struct Exclusion {
  segmenter::SegmentTypeId type;
  int configuration = 0;
  int rival = 0;
  problem::Picoseconds resharding{0};  // the bound
};

struct OpenConfiguration {
  segmenter::SegmentTypeId type;
  int configuration = 0;
  // By how much the low end of its estimate is below what its best rival is
  // expected to cost; picoseconds, infinite without a rival.
  double promise = 0;
  bool next = false;  // no open rival is expected to exclude it
};

struct Pruning {
  std::vector<Exclusion> excluded;
  std::vector<OpenConfiguration> open;  // the most promising first
};

// `margins` by type; `multiplier` in picoseconds per byte. The problem lets
// types of a group decide on their own.
Pruning Prune(const problem::PlanProblem& problem, const Standings& standings,
              const std::vector<double>& margins, double multiplier,
              const formulation::SharedParameterGroups& groups = {});

}  // namespace meshwright::selection

#endif  // MESHWRIGHT_COORDINATOR_SELECTION_PRUNING_H_
