// A chosen pipeline as a plan writes it.
//
// Concept: a stage is written as `plan` writes a step, segment by segment and
// argument by argument, with the figures of its own work; what it waits is the
// pipeline's. What was guessed or left out is a note.
// Units: as in v1::Plan.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_DESCRIBE_STAGES_H_
#define MESHWRIGHT_COORDINATOR_STAGES_DESCRIBE_STAGES_H_

#include "coordinator/export/whole_model.h"
#include "coordinator/stages/measured_meshes.h"
#include "coordinator/stages/partition_search.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::stages {

// One configuration per segment of the step; those of other stages are any.
exporting::SegmentChoice WholeChoice(const MeasuredMeshes& step,
                                     const ChosenStage& stage);

// One of the stages: everything but the peak.
void DescribeStage(const MeasuredMeshes& step, const ChosenStage& stage,
                   pipeline::Schedule schedule, v1::PlanStage& out);

// Fills everything but the heading.
void DescribeStages(const MeasuredMeshes& step, const ChosenPartition& chosen,
                    v1::Plan& plan);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_DESCRIBE_STAGES_H_
