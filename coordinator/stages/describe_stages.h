// A chosen pipeline as a plan writes it.
//
// Concept: a stage is written as `plan` writes a step, segment by segment and
// argument by argument, with the figures of its own work; what it waits is the
// pipeline's. What was guessed or left out is a note.
// Units: as in v1::Plan.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_DESCRIBE_STAGES_H_
#define MESHWRIGHT_COORDINATOR_STAGES_DESCRIBE_STAGES_H_

#include "coordinator/stages/choose_cuts.h"
#include "coordinator/stages/measured_meshes.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::stages {

// Fills everything but the heading.
void DescribeStages(const MeasuredMeshes& step, const ChosenCuts& chosen,
                    v1::Plan& plan);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_DESCRIBE_STAGES_H_
