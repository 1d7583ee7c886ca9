#include "coordinator/report/testing/plans.h"

#include <string>

namespace meshwright::report {
namespace {

v1::Plan MakeToyPlan() {
  v1::Plan plan;
  plan.set_schema_version(1);
  plan.set_feasible(true);
  plan.mutable_model()->set_name("toy");
  plan.set_device("cpu");
  for (const int64_t size : {1, 2}) plan.add_mesh(size);
  return plan;
}

}  // namespace

v1::Plan MakeMeshPlan() {
  v1::Plan plan = MakeToyPlan();
  for (int s = 0; s < 3; ++s) {
    v1::PlanSegment& segment = *plan.add_segments();
    segment.set_type(s);
    segment.set_describe(s == 1 ? "columns" : "rows");
    segment.set_seconds(0.03 + 0.01 * s);
    segment.set_communication_seconds(0.004);
    if (s > 0) segment.set_resharding_seconds(0.002);
    segment.set_memory_bytes(110);
  }
  v1::PlanPrediction& predicted = *plan.mutable_predicted();
  predicted.set_step_seconds(0.124);
  predicted.set_compute_seconds(0.108);
  predicted.set_communication_seconds(0.016);
  predicted.set_resharding_seconds(0.004);
  predicted.set_peak_bytes(331);
  plan.set_lower_bound_seconds(0.12);
  plan.set_gap(1 - 0.12 / 0.124);
  return plan;
}

explain::PlanBasis MakeBasis(const v1::Plan& plan) {
  explain::PlanBasis basis{.step_seconds = 0.124, .peak_bytes = 331};
  for (int s = 0; s < plan.segments_size(); ++s) {
    basis.segments.push_back({.forward_share = 0.25,
                              .backward_share = 0.5,
                              .update_share = 0.25,
                              .persistent_bytes = 100,
                              .saved_bytes = 10,
                              .transient_bytes = 1});
  }
  explain::UsedProgram program{.label = "segment 1", .runs = 3};
  program.row.set_key(std::string(64, 'a'));
  v1::Measurement& row = *program.row.mutable_measurement();
  row.set_minimum_ns(40'000'000);
  row.set_quality(v1::GOOD);
  v1::Collective& collective = *row.add_collectives();
  collective.set_kind("all-reduce");
  collective.set_bytes(1024);
  collective.set_group_size(2);
  collective.set_count(2);
  basis.programs.push_back(program);
  basis.front = {{.step_seconds = 0.13, .peak_bytes = 300},
                 {.step_seconds = 0.12, .peak_bytes = 400}};
  return basis;
}

v1::Plan MakeStagedPlan() {
  v1::Plan plan = MakeToyPlan();
  for (int i = 0; i < 2; ++i) {
    v1::PlanStage& stage = *plan.add_stages();
    for (int axis = 0; axis < 2; ++axis) stage.add_mesh(1);
    stage.add_devices(i);
    stage.set_first_segment(i);
    stage.add_segments()->set_describe("rows");
    stage.set_forward_seconds(0.001);
    stage.set_backward_input_seconds(0.001);
    stage.set_backward_weight_seconds(0.001);
    stage.set_update_seconds(0.002);
    stage.set_activation_bytes(10);
    stage.set_persistent_bytes(100);
    stage.mutable_predicted()->set_step_seconds(0.014);
    stage.mutable_predicted()->set_communication_seconds(0.0035);
  }
  v1::PlanBoundary& boundary = *plan.add_boundaries();
  for (v1::PlanTransfer* it :
       {boundary.mutable_forward(), boundary.mutable_backward()}) {
    it->set_bytes(64);
    it->set_makespan_seconds(0.0005);
  }
  v1::PlanPipeline& pipeline = *plan.mutable_pipeline();
  pipeline.set_schedule("1f1b");
  pipeline.set_micro_batches(4);
  pipeline.set_overlap(true);
  pipeline.set_step_seconds(0.018);
  plan.mutable_predicted()->set_step_seconds(0.018);
  return plan;
}

v1::StagedValidationReport MakeStagedValidation(const v1::Plan& plan,
                                                double factor) {
  v1::StagedValidationReport validation;
  for (const v1::PlanStage& stage : plan.stages()) {
    v1::ValidatedStage& validated = *validation.add_stages();
    const auto add = [&](const std::string& pass, double seconds) {
      v1::ValidatedPass& it = *validated.add_passes();
      it.set_pass(pass);
      it.set_measured_seconds(factor * seconds);
    };
    add("forward", stage.forward_seconds());
    add("backward",
        stage.backward_input_seconds() + stage.backward_weight_seconds());
    add("update", stage.update_seconds());
  }
  return validation;
}

}  // namespace meshwright::report
