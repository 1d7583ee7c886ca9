// A chosen pipeline as a plan writes it.
//
// Concept: the stages (stage_writer.h), the boundaries between them, the
// pipeline's schedule and what it predicts for the step. A note names whatever
// was estimated or left out.
// Units: as in v1::Plan.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_DESCRIBE_STAGES_H_
#define MESHWRIGHT_COORDINATOR_STAGES_DESCRIBE_STAGES_H_

#include "coordinator/stages/measured_meshes.h"
#include "coordinator/stages/partition_search.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::stages {

// Fills everything but the heading.
void DescribeStages(const MeasuredMeshes& step, const ChosenPartition& chosen,
                    v1::Plan& plan);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_DESCRIBE_STAGES_H_
