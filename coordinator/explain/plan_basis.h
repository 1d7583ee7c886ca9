// PlanBasis: what a plan rests on, from the rows of a store.
//
// Concept: three questions that a plan file does not answer. The programs that
// its segments and boundaries are made of, each with its row and how often the
// step runs it. What a segment's time and memory are made of: the share of each
// pass, estimated from the work counted in its programs, and the bytes that it
// holds. And the front: the fastest plan for each amount of memory.
// In -> Out: a measured step, a choice of it -> the basis. Nothing is measured.
// Shapes: `segments` by segment of the step.
// Units: seconds of a step; bytes per device.
// Errors: kNotFound if a configuration of the choice was not measured; those of
// the search.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_PLAN_BASIS_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_PLAN_BASIS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/planning/measured_step.h"
#include "planner/search/search.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::explain {

struct UsedProgram {
  std::string label;  // for people
  bool resharding = false;
  double runs = 0;  // in a step; part of one where loops are fitted
  v1::ProfileResult row;
};

struct SegmentBasis {
  double forward_share = 0;  // of the segment's time, as the next two
  double backward_share = 0;
  double update_share = 0;
  int64_t persistent_bytes = 0;
  int64_t saved_bytes = 0;
  int64_t transient_bytes = 0;
};

struct FrontPlan {
  double step_seconds = 0;
  double lower_bound_seconds = 0;  // of all plans of no more memory
  int64_t peak_bytes = 0;
};

struct PlanBasis {
  // Of the plan, by the rows as they are now; the plan file has them as they
  // were.
  double step_seconds = 0;
  int64_t peak_bytes = 0;
  // While the gradients are reduced, behind the last backward pass
  // (problem/peak_timeline.h).
  int64_t reducing_bytes = 0;
  std::vector<UsedProgram> programs;  // the longest in a step first
  std::vector<SegmentBasis> segments;
  std::vector<FrontPlan> front;  // of rising memory
};

// `points`: of the front, at most.
absl::StatusOr<PlanBasis> FindPlanBasis(const planning::MeasuredStep& step,
                                        const space::SegmentChoice& choice,
                                        int points,
                                        const search::Options& options);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_PLAN_BASIS_H_
