// ReportData: all that the report of a plan shows, as one value.
//
//   plan file ──┐
//   store ──────┼──▶ ReportData ──▶ JSON in a page (report_page.h)
//   validation ─┘              └──▶ trace (trace.h)
//
// Concept: the plan is always there. A store adds the choices' savings and the
// basis (plan_basis.h), a validation what was measured. What is absent is named
// by the page, with what to do about it. Long lists are folded here, so that
// the page of a model of 96 layers is as short as that of a small one.
// Units: seconds of a step (of segments: fold_segments.h); bytes per device.
// Errors: those of timeline.h.
#ifndef MESHWRIGHT_COORDINATOR_REPORT_REPORT_DATA_H_
#define MESHWRIGHT_COORDINATOR_REPORT_REPORT_DATA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/explain/plan_basis.h"
#include "coordinator/report/fold_segments.h"
#include "coordinator/report/timeline.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::report {

struct ReportInputs {
  v1::Plan plan;
  // Of a store; absent: none was asked, or it lacks the plan's measurements.
  std::optional<v1::PlanExplanation> explanation;
  std::optional<explain::PlanBasis> basis;  // of a plan on one mesh
  // At most one of them.
  std::optional<v1::ValidationReport> validation;
  std::optional<v1::StagedValidationReport> staged_validation;
};

// What all programs of a step send in one kind of collective.
struct CollectiveSum {
  std::string kind;     // "all-reduce"
  int64_t devices = 0;  // of a group
  std::string axis;     // "axis 1", "all axes", "an axis of 2 devices"
  double count = 0;
  double bytes = 0;  // of results, on one device
};

// Arguments or outputs whose names differ in numbers alone.
struct ArgumentGroup {
  std::string name;  // "params.*.kernel"
  std::string role;
  std::string shape;  // "[256,1024]"
  std::string sharding;
  int count = 0;
};

struct StageSegments {
  int stage = 0;  // from 1; 0: the plan has no stages
  std::vector<RepeatedRuns> groups;
};

struct ReportData {
  ReportInputs inputs;
  std::vector<StageSegments> segments;
  std::vector<CollectiveSum> collectives;
  std::vector<ArgumentGroup> arguments;
  std::vector<ArgumentGroup> outputs;
  std::vector<Timeline> timelines;  // of a feasible plan
  std::optional<v1::PipelineWaits> waits;
};

// kInvalidArgument for a validation that is none, or of another plan: it
// predicts another step.
absl::Status CheckValidation(const ReportInputs& inputs);

absl::StatusOr<ReportData> MakeReportData(ReportInputs inputs);

// Those of a plan that a ReportData or a trace has.
absl::StatusOr<std::vector<Timeline>> MakeTimelines(const ReportInputs& inputs);

// The axis of a mesh that groups of so many devices lie along.
std::string NameAxis(const v1::Plan& plan, int64_t devices);

}  // namespace meshwright::report

#endif  // MESHWRIGHT_COORDINATOR_REPORT_REPORT_DATA_H_
