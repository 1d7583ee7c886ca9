// ComputeStepBound: what no schedule of these stages can beat.
//
// Concept: stage i is idle until the first activation comes through the stages
// before it. Then it has all its micro-batches to compute. After that its last
// gradient goes back through the stages before it. Without overlap its
// transfers count as its work. The same of every link in each direction. The
// largest of these. The way back follows input gradients alone and ends with
// the weights of the first stage, since all other weight gradients may run
// beside it.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_BOUND_H_
#define MESHWRIGHT_PLANNER_PIPELINE_BOUND_H_

#include "planner/pipeline/pipeline_problem.h"

namespace meshwright::pipeline {

// Of a valid problem.
Picoseconds ComputeStepBound(const PipelineProblem& problem);

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_BOUND_H_
