// From measured programs to a PlanProblem and back.
//
// Concept: every run of equal segments becomes one node with a repeat count.
// The measured configurations of its type become the node type's, boundary
// resharding becomes the tables. A parameter that two segments share forbids
// the pairs that would split it in two ways. Configurations in a group of
// segments that recompute together are there once per position
// (group_states.h).
// The search adds the largest transient to all that is saved. Behind a segment
// that runs nothing is saved yet, or any more, so that of its transient only
// what is beyond the least that those save counts there.
// Shapes: `usable[t]` maps configurations of the problem to
// those of the space, `positions[t]` to where in their group they stand.
#ifndef MESHWRIGHT_COORDINATOR_PROBLEM_PLAN_PROBLEM_H_
#define MESHWRIGHT_COORDINATOR_PROBLEM_PLAN_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/estimation/estimate.h"
#include "coordinator/export/whole_model.h"
#include "coordinator/problem/segment_runs.h"
#include "coordinator/space/profile_space.h"
#include "planner/problem/plan_problem.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::formulation {

// Of a configuration, for the peak of a plan (peak_timeline.h).
struct TimelineBytes {
  int64_t transient = 0;
  int64_t reduced = 0;  // of the gradients that are reduced
  // Of the persistent: copies of arguments, until the last who reads them.
  int64_t copied = 0;
};

struct MeasuredProblem {
  problem::PlanProblem problem;
  std::vector<SegmentRun> runs;             // by node
  std::vector<std::vector<int>> usable;     // by type of the space
  std::vector<std::vector<int>> positions;  // likewise; 0: in no group, first
  std::vector<std::vector<TimelineBytes>> timeline;  // likewise
};

// Parts that a problem may leave out.
struct ProblemOptions {
  bool groups = true;
  bool links = true;  // parameters that segments of blocks share
  // Parts of the step are planned alone: what is saved elsewhere is not there.
  bool parts = false;
};

// Measured rows count; where there is none, the estimate, if any.
// Errors: kUnavailable when a segment type has no configuration of known cost.
absl::StatusOr<MeasuredProblem> BuildProblem(
    const segmenter::Analysis& analysis, const space::ProfileSpace& space,
    const store::Results& results, std::optional<int64_t> memory_limit_bytes,
    const estimation::Estimates& estimates = {},
    const ProblemOptions& options = {});

space::SegmentChoice ToSegments(const segmenter::Analysis& analysis,
                                const MeasuredProblem& measured,
                                const problem::Choice& choice);

// kNotFound where a segment's configuration was not measured, or its group has
// more members than the problem has positions.
absl::StatusOr<problem::Choice> FromSegments(
    const segmenter::Analysis& analysis, const space::ProfileSpace& space,
    const MeasuredProblem& measured, const space::SegmentChoice& choice);

}  // namespace meshwright::formulation

#endif  // MESHWRIGHT_COORDINATOR_PROBLEM_PLAN_PROBLEM_H_
