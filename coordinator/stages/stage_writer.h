// DescribeStage: one stage of a chosen pipeline as a plan writes it.
//
// Concept: a stage is written as `plan` writes a step, segment by segment and
// argument by argument, with the figures of its own work.
// Units: as in v1::Plan.
// Threads: pure functions.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_STAGE_WRITER_H_
#define MESHWRIGHT_COORDINATOR_STAGES_STAGE_WRITER_H_

#include "coordinator/export/whole_model.h"
#include "coordinator/stages/measured_meshes.h"
#include "coordinator/stages/stage_work.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::stages {

// One configuration per segment of the step; those of other stages are any.
space::SegmentChoice MakeWholeChoice(const MeasuredMeshes& step,
                                     const ChosenStage& stage);

// One of the stages: everything but the peak.
void DescribeStage(const MeasuredMeshes& step, const ChosenStage& stage,
                   pipeline::Schedule schedule, v1::PlanStage& out);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_STAGE_WRITER_H_
