#include "coordinator/stages/stage_work.h"

namespace meshwright::stages {

using pipeline::Picoseconds;

StageWork ComputeStageWork(const MeasuredMeshes& step, int mesh,
                           const RunPlan& run) {
  StageWork work;
  const PassTimeSplit& splits = *step.meshes[mesh]->splits;
  Picoseconds backward{0};
  int64_t delayed = 0;
  for (const auto& [use, count] : run.uses) {
    const PassTimes split = splits.Estimate(use);
    work.stage.forward += count * split.forward;
    work.stage.backward_input += count * split.backward_input;
    work.stage.backward_weight += count * split.backward_weight;
    backward += count * split.backward;
    work.update += count * split.update;
    delayed += count * splits.ComputeDelayedBytes(use);
    work.estimated = work.estimated || split.estimated;
  }
  // Inside, an activation and its gradient are resharded alike, both ways.
  const Picoseconds resharding = run.resharding / step.terms.own_micro_batches;
  work.stage.forward += resharding / 2;
  work.stage.backward_input += resharding - resharding / 2;
  work.stage.backward = backward + resharding - resharding / 2;
  work.update += run.resharding - step.terms.own_micro_batches * resharding;
  work.stage.activation_bytes = run.saved_bytes;
  work.stage.delayed_bytes = delayed;
  work.stage.persistent_bytes = run.persistent_bytes;
  return work;
}

pipeline::Stage SpreadUpdate(const StageWork& work, int micro_batches) {
  pipeline::Stage stage = work.stage;
  const Picoseconds share =
      (work.update + Picoseconds(micro_batches - 1)) / micro_batches;
  stage.backward_weight += share;
  if (stage.backward.has_value()) *stage.backward += share;
  return stage;
}

}  // namespace meshwright::stages
