#include "coordinator/explain/testing/fastest_plan.h"

#include <utility>

#include "base/status_macros.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/segmenter/testing/test_steps.h"

namespace meshwright::explain {

absl::StatusOr<FastestPlan> PlanSample(const std::string& sample, int64_t limit,
                                       store::ProfileStore* store) {
  v1::PlanRequest request;
  request.set_hlo_module(segmenter::ReadSample(sample));
  for (const int64_t size : {1, 2}) request.mutable_mesh()->add_shape(size);
  request.set_full_space(true);
  request.set_device_memory_bytes(limit);
  jobs::FakeMeasurer measurer;
  measurer.machine = 5;
  ASSIGN_OR_RETURN(planning::MeasuredStep step,
                   planning::MeasureStep(request, {store, &measurer},
                                         [](const v1::PlanProgress&) {}));
  ASSIGN_OR_RETURN(search::Answer answer, search::Solve(step.measured.problem));
  if (!answer.plan.has_value()) {
    return absl::NotFoundError("no plan of the sample fits the limit");
  }
  space::SegmentChoice choice = formulation::ToSegments(
      step.analysis, step.measured, answer.plan->choice);
  return FastestPlan{std::move(step), std::move(choice),
                     *std::move(answer.plan)};
}

}  // namespace meshwright::explain
