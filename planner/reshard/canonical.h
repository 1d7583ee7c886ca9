// Canonical: a problem without what its answer does not depend on.
//
// Concept: names and the order of tasks, hosts and lists are gone, and the
// bandwidth is 1 where every transfer goes at one speed anyway. Two problems
// with equal canonical forms are one problem: a schedule of the form, with its
// indices translated, is a schedule of either, and takes as many ticks.
// Hosts are told apart by what they send and receive: by refinement of colours,
// as far as that goes; of hosts that still look alike one is made different,
// the first by name, and so on. Where alike means interchangeable, the form
// does not depend on that choice. Elsewhere (rare: regular, not symmetric)
// renamed hosts may give another form, which costs one more solve; renamed
// tasks and another order of them never do.
// Threads: pure.
// Errors: none for a valid problem.
#ifndef MESHWRIGHT_PLANNER_RESHARD_CANONICAL_H_
#define MESHWRIGHT_PLANNER_RESHARD_CANONICAL_H_

#include <string>
#include <vector>

#include "planner/reshard/problem/reshard_problem.h"
#include "planner/reshard/problem/schedule.h"

namespace meshwright::reshard {

struct Canonical {
  ReshardProblem problem;  // named "0", "1", ...
  std::vector<int> tasks;  // by index of the form: that of the original
  std::vector<int> hosts;
};

// `problem` is valid.
Canonical Canonicalize(const ReshardProblem& problem);

// All of the form as bytes: equal where the forms are.
std::string ContentOf(const Canonical& canonical);

// A schedule of the form, as one of the original.
Schedule Translate(const Canonical& canonical, const Schedule& schedule);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_CANONICAL_H_
