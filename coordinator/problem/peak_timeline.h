// PeakTimeline: what a plan needs at the fullest moment of its step.
//
//   forward   0 ──▶ 1 ──▶ 2      while segment 1 runs backward, 0 and 1 hold
//   backward  0 ◀── 1 ◀── 2      what they saved, 2 holds nothing any more
//
// Concept: a segment saves values in its forward pass, and its backward pass
// frees them. While a segment runs, it and those before it hold what they
// saved; those behind it hold nothing, whichever pass it is in. The peak is
// what lives through the step, and the largest over the segments of what is
// saved up to there and the segment's transient. The compiler may merge the
// all-reduces of the gradients into one behind the last backward pass, which
// holds all of them before and after; copies of what is updated are gone by
// then, as nobody reads them any more. The search takes the sum over all
// segments and the largest transient instead (planner/problem).
// In -> Out: a problem, its nodes in the order of the step, and a choice that
// is one of its plans (problem::Evaluate) -> bytes of one device.
// Threads: pure function.
#ifndef MESHWRIGHT_COORDINATOR_PROBLEM_PEAK_TIMELINE_H_
#define MESHWRIGHT_COORDINATOR_PROBLEM_PEAK_TIMELINE_H_

#include <cstdint>

#include "coordinator/problem/plan_problem.h"

namespace meshwright::formulation {

// What is needed while segments run, and while the gradients are reduced.
struct PeakParts {
  int64_t running = 0;
  int64_t reducing = 0;
};

PeakParts FindPeakParts(const MeasuredProblem& measured,
                        const problem::Choice& choice);

// The larger of the two.
int64_t FindPeakBytes(const MeasuredProblem& measured,
                      const problem::Choice& choice);

}  // namespace meshwright::formulation

#endif  // MESHWRIGHT_COORDINATOR_PROBLEM_PEAK_TIMELINE_H_
