// Timeline: when the devices of a plan compute and communicate in one step.
//
//   stage 1   compute        ▇▇▇▇ ▇▇▇▇    ▇▇▇▇
//             communication      ▇    ▇       ▇
//
// Concept: devices that do the same form a group: all of a mesh, or those of a
// stage. A group has lanes, one for what it computes and others for what it
// communicates. Slices of a lane do not overlap.
//   Predicted, on one mesh: segments run forward in their order and backward in
// the other, if the basis says how a segment's time splits into passes. Then
// gradients are reduced and all segments update; the memory reaches the peak of
// the basis. Without a basis each segment is one slice, forward, backward and
// update together, and the memory is not known.
// Predicted, in stages: the plan's schedule, simulated.
//   Measured: a validation times a step on one mesh as a whole, which is one
// slice. It times the passes of stages apart; the schedule is then simulated
// with these.
// Units: seconds from the start of the step; bytes per device.
// Errors: kInvalidArgument for stages that form no pipeline, or a validation of
// another plan.
#ifndef MESHWRIGHT_COORDINATOR_REPORT_TIMELINE_H_
#define MESHWRIGHT_COORDINATOR_REPORT_TIMELINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/explain/plan_basis.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::report {

struct Slice {
  double start_seconds = 0;
  double seconds = 0;
  std::string name;  // "forward of segment 3"
  std::string kind;  // "forward", "backward", "update", "resharding", ...
  std::string detail;
};

struct Lane {
  std::string name;
  bool is_communication = false;
  std::vector<Slice> slices;
};

// From this time on, until the next level.
struct MemoryLevel {
  double seconds = 0;
  int64_t bytes = 0;
};

struct DeviceGroup {
  std::string name;
  std::vector<int64_t> devices;
  std::vector<Lane> lanes;
  std::vector<MemoryLevel> memory;  // empty: not known
};

struct Timeline {
  std::string name;   // "predicted", "measured"
  std::string basis;  // what it is made of, as sentences
  double step_seconds = 0;
  std::vector<DeviceGroup> groups;
};

// `basis`: null where no store was asked.
absl::StatusOr<Timeline> PredictTimeline(const v1::Plan& plan,
                                         const explain::PlanBasis* basis);

// kNotFound where the validation did not run the plan.
absl::StatusOr<Timeline> MakeMeasuredTimeline(
    const v1::Plan& plan, const v1::ValidationReport& validation);
absl::StatusOr<Timeline> MakeMeasuredTimeline(
    const v1::Plan& plan, const v1::StagedValidationReport& validation);

}  // namespace meshwright::report

#endif  // MESHWRIGHT_COORDINATOR_REPORT_TIMELINE_H_
