#include "coordinator/report/timeline.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/stages/planned_pipeline.h"
#include "planner/pipeline/memory.h"

namespace meshwright::report {
namespace {

using explain::SegmentBasis;
using problem::ToSeconds;

int64_t CountDevices(const v1::Plan& plan) {
  int64_t count = 1;
  for (const int64_t size : plan.mesh()) count *= size;
  return count;
}

// All of a mesh.
DeviceGroup MakeMeshGroup(const v1::Plan& plan) {
  DeviceGroup group{.name = "all devices"};
  for (int64_t device = 0; device < CountDevices(plan); ++device) {
    group.devices.push_back(device);
  }
  group.lanes = {{.name = "compute"},
                 {.name = "communication", .is_communication = true}};
  return group;
}

// Lays slices end to end.
class OneAfterAnother {
 public:
  explicit OneAfterAnother(DeviceGroup& group) : group_(group) {}

  void Add(int lane, double seconds, std::string name, std::string kind,
           std::string detail) {
    if (seconds <= 0) return;
    group_.lanes[lane].slices.push_back({.start_seconds = now_,
                                         .seconds = seconds,
                                         .name = std::move(name),
                                         .kind = std::move(kind),
                                         .detail = std::move(detail)});
    now_ += seconds;
  }
  void Hold(int64_t bytes) { group_.memory.push_back({now_, bytes}); }
  double now() const { return now_; }

 private:
  DeviceGroup& group_;
  double now_ = 0;
};

// A pass of one segment: what it computes, then what it communicates.
void AddPass(const v1::PlanSegment& segment, int number, double share,
             const std::string& kind, OneAfterAnother& steps) {
  const std::string name = absl::StrCat(kind, " of segment ", number);
  const double communication = share * segment.communication_seconds();
  steps.Add(0, share * segment.seconds() - communication, name, kind,
            segment.describe());
  steps.Add(1, communication, name, kind, segment.describe());
}

void AddResharding(const v1::PlanSegment& segment, int number, double share,
                   OneAfterAnother& steps) {
  steps.Add(1, share * segment.resharding_seconds(),
            absl::StrCat("resharding for segment ", number), "resharding",
            "at its boundaries with earlier segments");
}

Timeline LaySegments(const v1::Plan& plan) {
  Timeline timeline{.name = "predicted"};
  timeline.basis =
      "Segments stand in their order. Each is measured as one program: its "
      "forward pass, backward pass and update together.";
  DeviceGroup group = MakeMeshGroup(plan);
  OneAfterAnother steps(group);
  for (int s = 0; s < plan.segments_size(); ++s) {
    AddResharding(plan.segments(s), s, 1, steps);
    AddPass(plan.segments(s), s, 1, "segment", steps);
  }
  timeline.step_seconds = steps.now();
  timeline.groups.push_back(std::move(group));
  return timeline;
}

Timeline LayPasses(const v1::Plan& plan, const explain::PlanBasis& basis) {
  Timeline timeline{.name = "predicted"};
  timeline.basis =
      "Each segment is measured as one program. Its time splits into passes by "
      "the work counted in them, and its communication alike; resharding "
      "splits into halves.";
  const std::vector<SegmentBasis>& segments = basis.segments;
  DeviceGroup group = MakeMeshGroup(plan);
  OneAfterAnother steps(group);
  int64_t held = 0;
  for (const SegmentBasis& it : segments) held += it.persistent_bytes;
  steps.Hold(held);
  for (int s = 0; s < plan.segments_size(); ++s) {
    AddResharding(plan.segments(s), s, 0.5, steps);
    AddPass(plan.segments(s), s, segments[s].forward_share, "forward", steps);
    held += segments[s].saved_bytes;
    steps.Hold(held);
  }
  for (int s = plan.segments_size() - 1; s >= 0; --s) {
    steps.Hold(held + segments[s].transient_bytes);
    AddPass(plan.segments(s), s, segments[s].backward_share, "backward", steps);
    held -= segments[s].saved_bytes;
    steps.Hold(held);
    AddResharding(plan.segments(s), s, 0.5, steps);
  }
  steps.Hold(std::max(held, basis.reducing_bytes));
  for (int s = plan.segments_size() - 1; s >= 0; --s) {
    AddPass(plan.segments(s), s, segments[s].update_share, "update", steps);
  }
  steps.Hold(held);
  timeline.step_seconds = steps.now();
  timeline.groups.push_back(std::move(group));
  return timeline;
}

const char* NameKind(pipeline::OperationKind kind) {
  switch (kind) {
    case pipeline::OperationKind::kForward:
      return "forward";
    case pipeline::OperationKind::kBackwardWeight:
      return "backward of weights";
    case pipeline::OperationKind::kBackward:
    case pipeline::OperationKind::kBackwardInput:
      return "backward";
  }
  return "";
}

// The part of a stage's work that its collectives take.
double FindCommunicationShare(const v1::PlanStage& stage) {
  const v1::PlanPrediction& it = stage.predicted();
  if (it.step_seconds() <= 0) return 0;
  return std::clamp(it.communication_seconds() / it.step_seconds(), 0.0, 1.0);
}

void AddWork(double start, double seconds, const std::string& name,
             const std::string& kind, double communication_share,
             DeviceGroup& group) {
  const double communication = communication_share * seconds;
  const auto add = [&](int lane, double from, double length) {
    if (length <= 0) return;
    group.lanes[lane].slices.push_back(
        {.start_seconds = from, .seconds = length, .name = name, .kind = kind});
  };
  add(0, start, seconds - communication);
  add(1, start + seconds - communication, communication);
}

// What leaves a stage, to the next one or the one before.
void AddTransfers(const std::vector<pipeline::Delivery>& deliveries,
                  const std::string& what, int to_stage, DeviceGroup& group) {
  Lane lane{.name = absl::StrCat("transfers to stage ", to_stage + 1),
            .is_communication = true};
  for (const pipeline::Delivery& it : deliveries) {
    if (it.end <= it.start) continue;
    lane.slices.push_back(
        {.start_seconds = ToSeconds(it.start),
         .seconds = ToSeconds(it.end - it.start),
         .name = absl::StrCat(what, " of micro-batch ", it.micro_batch),
         .kind = "transfer"});
  }
  if (!lane.slices.empty()) group.lanes.push_back(std::move(lane));
}

double FindEnd(const DeviceGroup& group) {
  double end = 0;
  for (const Lane& lane : group.lanes) {
    for (const Slice& slice : lane.slices) {
      end = std::max(end, slice.start_seconds + slice.seconds);
    }
  }
  return end;
}

absl::StatusOr<Timeline> SimulateStages(const v1::Plan& plan) {
  ASSIGN_OR_RETURN(const pipeline::PipelineProblem problem,
                   stages::ParsePipeline(plan));
  ASSIGN_OR_RETURN(const pipeline::Timeline simulated,
                   stages::SimulatePlan(plan, problem));
  const auto memory = pipeline::ComputeMemoryOverTime(problem, simulated);
  Timeline timeline;
  for (int i = 0; i < plan.stages_size(); ++i) {
    const v1::PlanStage& stage = plan.stages(i);
    DeviceGroup group{.name = absl::StrCat("stage ", i + 1)};
    group.devices.assign(stage.devices().begin(), stage.devices().end());
    group.lanes = {{.name = "compute"},
                   {.name = "communication", .is_communication = true}};
    const double share = FindCommunicationShare(stage);
    for (const pipeline::Span& span : simulated.stages[i]) {
      const std::string kind = NameKind(span.operation.kind);
      AddWork(
          ToSeconds(span.start), ToSeconds(span.end - span.start),
          absl::StrCat(kind, " of micro-batch ", span.operation.micro_batch),
          kind, share, group);
    }
    const double end = ToSeconds(pipeline::FindStageEnd(problem, simulated, i));
    AddWork(end, stage.update_seconds(), "update", "update", share, group);
    if (i < static_cast<int>(simulated.forward_links.size())) {
      AddTransfers(simulated.forward_links[i], "activation", i + 1, group);
    }
    if (i > 0) {
      AddTransfers(simulated.backward_links[i - 1], "gradient", i - 1, group);
    }
    for (const pipeline::MemoryLevel& level : memory[i]) {
      group.memory.push_back({ToSeconds(level.time), level.bytes});
    }
    timeline.step_seconds = std::max(timeline.step_seconds, FindEnd(group));
    timeline.groups.push_back(std::move(group));
  }
  const double shared = plan.pipeline().shared_seconds();
  if (shared > 0) {
    for (DeviceGroup& group : timeline.groups) {
      group.lanes[1].slices.push_back({.start_seconds = timeline.step_seconds,
                                       .seconds = shared,
                                       .name = "shared parameters",
                                       .kind = "transfer"});
    }
    timeline.step_seconds += shared;
  }
  return timeline;
}

std::optional<double> FindPass(const v1::ValidatedStage& stage,
                               const std::string& pass) {
  for (const v1::ValidatedPass& it : stage.passes()) {
    if (it.pass() == pass && it.has_measured_seconds()) {
      return it.measured_seconds();
    }
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<Timeline> PredictTimeline(const v1::Plan& plan,
                                         const explain::PlanBasis* basis) {
  if (plan.has_pipeline()) {
    ASSIGN_OR_RETURN(Timeline timeline, SimulateStages(plan));
    timeline.name = "predicted";
    timeline.basis =
        "The plan's schedule, simulated with the predicted passes of its "
        "stages. A stage's collectives stand behind each pass, by their part "
        "of the stage's time.";
    return timeline;
  }
  const bool known =
      basis != nullptr &&
      basis->segments.size() == static_cast<size_t>(plan.segments_size());
  return known ? LayPasses(plan, *basis) : LaySegments(plan);
}

absl::StatusOr<Timeline> MakeMeasuredTimeline(
    const v1::Plan& plan, const v1::ValidationReport& validation) {
  for (const v1::ValidatedPlan& it : validation.plans()) {
    if (it.name() != validation.chosen() || !it.has_measured_seconds()) {
      continue;
    }
    Timeline timeline{.name = "measured",
                      .basis =
                          "A validation times the step as a whole: this is its "
                          "fastest run.",
                      .step_seconds = it.measured_seconds()};
    DeviceGroup group = MakeMeshGroup(plan);
    group.lanes = {{.name = "step"}};
    group.lanes[0].slices.push_back(
        {.seconds = it.measured_seconds(), .name = "step", .kind = "step"});
    timeline.groups.push_back(std::move(group));
    return timeline;
  }
  return absl::NotFoundError("the validation did not run the plan");
}

absl::StatusOr<Timeline> MakeMeasuredTimeline(
    const v1::Plan& plan, const v1::StagedValidationReport& validation) {
  if (validation.stages_size() != plan.stages_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the validation is of ", validation.stages_size(),
                     " stages and the plan has ", plan.stages_size()));
  }
  v1::Plan measured = plan;
  for (int i = 0; i < plan.stages_size(); ++i) {
    const v1::ValidatedStage& from = validation.stages(i);
    v1::PlanStage& to = *measured.mutable_stages(i);
    const std::optional<double> forward = FindPass(from, "forward");
    const std::optional<double> backward = FindPass(from, "backward");
    if (!forward.has_value() || !backward.has_value()) {
      return absl::NotFoundError(
          absl::StrCat("the validation did not run stage ", i + 1));
    }
    to.set_forward_seconds(*forward);
    to.set_backward_input_seconds(*backward);
    to.set_backward_weight_seconds(
        FindPass(from, "backward-weight").value_or(0));
    to.clear_backward_seconds();
    to.set_update_seconds(FindPass(from, "update").value_or(0));
  }
  ASSIGN_OR_RETURN(Timeline timeline, SimulateStages(measured));
  timeline.name = "measured";
  timeline.basis =
      "The passes of each stage were timed one after the other. The schedule "
      "is simulated with these times; transfers are as predicted.";
  return timeline;
}

}  // namespace meshwright::report
