// PipelineProblem: stages in a line, the transfers between them, and how many
// micro-batches pass through them in one step.
//
//   stage 1 --transfer 1--> stage 2 --transfer 2--> stage 3
//      F       F's output      F       F's output      F
//      B  <--- B's output      B  <--- B's output      B
//
// Concept: every micro-batch runs forward through all stages and then backward
// through all of them. The backward of a stage is one operation, or two where a
// schedule splits it. These are the gradient of its input, which the stage
// before needs, and that of its weights, which nobody needs before the step
// ends.
// Units: times of one micro-batch in picoseconds; bytes per device.
// Errors: ParseSchedule gives kInvalidArgument, listing the names, for another.
// Source: papers/cross_mesh_resharding.txt section 4.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_PIPELINE_PROBLEM_H_
#define MESHWRIGHT_PLANNER_PIPELINE_PIPELINE_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/problem/duration.h"

namespace meshwright::pipeline {

using problem::Picoseconds;

struct Stage {
  Picoseconds forward{0};
  Picoseconds backward_input{0};
  Picoseconds backward_weight{0};
  // The bytes that one micro-batch keeps from the start of its forward to the
  // end of its backward.
  int64_t activation_bytes = 0;
  // The bytes held all the time: parameters, gradients, optimizer states.
  int64_t persistent_bytes = 0;
  // In place of activation_bytes, once the gradient of the input is there and
  // that of the weights is not; none: the same.
  std::optional<int64_t> delayed_bytes;
  // Both gradients as one operation; none: the sum.
  std::optional<Picoseconds> backward;

  Picoseconds Backward() const {
    return backward.value_or(backward_input + backward_weight);
  }
  int64_t ComputeDelayedBytes() const {
    return delayed_bytes.value_or(activation_bytes);
  }
};

// Of the tensors between two neighbouring stages.
struct Transfer {
  Picoseconds forward{0};
  Picoseconds backward{0};
};

enum class Schedule { kGpipe, k1F1B, kEager1F1B, kEager1F1BDelay };

inline constexpr Schedule kSchedules[] = {Schedule::kGpipe, Schedule::k1F1B,
                                          Schedule::kEager1F1B,
                                          Schedule::kEager1F1BDelay};

// "gpipe", "1f1b", "eager-1f1b", "eager-1f1b-delay".
std::string_view Name(Schedule schedule);
absl::StatusOr<Schedule> ParseSchedule(std::string_view name);

// Both gradients, as one operation or apart.
Picoseconds FindMinBackward(const Stage& stage);
Picoseconds FindMaxBackward(const Stage& stage);

// Of one micro-batch's gradients, apart where the schedule splits them.
Picoseconds ComputeBackward(Schedule schedule, const Stage& stage);

struct PipelineProblem {
  std::vector<Stage> stages;
  std::vector<Transfer> transfers;  // one fewer than stages
  int micro_batches = 1;
  // Whether a stage computes while its tensors travel. If so, a link carries
  // one transfer at a time in each direction; if not, a transfer occupies both
  // of its stages.
  bool overlap = true;
  std::vector<int64_t> memory_limit_bytes;  // per stage; empty: no limit

  int Stages() const { return static_cast<int>(stages.size()); }
};

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_PIPELINE_PROBLEM_H_
