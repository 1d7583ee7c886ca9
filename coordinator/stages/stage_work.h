// StageWork: what the passes of one stage take, and what the stage keeps.
//
// Concept: the pass time split of the configurations that the stage's run uses,
// summed up; reshardings inside the stage go to both passes alike.
// Units: picoseconds and bytes per device of one micro-batch; the update is
// that of a step.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_STAGE_WORK_H_
#define MESHWRIGHT_COORDINATOR_STAGES_STAGE_WORK_H_

#include <cstdint>
#include <vector>

#include "coordinator/stages/measured_meshes.h"
#include "planner/pipeline/partition_problem.h"

namespace meshwright::stages {

// The work of one stage.
struct StageWork {
  pipeline::Stage stage;  // of one micro-batch
  pipeline::Picoseconds update{0};
  bool estimated = false;  // how the time splits
};

StageWork ComputeStageWork(const MeasuredMeshes& step, int mesh,
                           const RunPlan& run);

// The stage with its share of the update in every backward pass.
pipeline::Stage SpreadUpdate(const StageWork& work, int micro_batches);

struct ChosenStage {
  pipeline::StageOnMesh place;  // its segments are [first(), end())
  RunPlan run;
  StageWork work;
  std::vector<int64_t> devices;

  segmenter::SegmentIndex first() const {
    return segmenter::SegmentIndex(place.first);
  }
  segmenter::SegmentIndex end() const {
    return segmenter::SegmentIndex(place.end);
  }
};

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_STAGE_WORK_H_
