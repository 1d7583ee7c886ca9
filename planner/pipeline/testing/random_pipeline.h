// RandomPipeline: pipelines for tests and benches, the same ones every time.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_TESTING_RANDOM_PIPELINE_H_
#define MESHWRIGHT_PLANNER_PIPELINE_TESTING_RANDOM_PIPELINE_H_

#include <cstdint>

#include "planner/pipeline/pipeline_problem.h"

namespace meshwright::pipeline {

struct PipelineKind {
  int stages = 4;
  int micro_batches = 8;
  bool overlap = true;
  int64_t longest = 20;           // of forward and of each gradient
  int64_t longest_transfer = 20;  // 0: none take time
  bool zeros = false;             // some weight gradients and transfers are 0
};

PipelineProblem RandomPipeline(uint64_t seed, const PipelineKind& kind);

// All stages and all transfers alike.
PipelineProblem MakeEqualStages(int stages, int micro_batches,
                                const Stage& stage, const Transfer& transfer,
                                bool overlap = true);

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_TESTING_RANDOM_PIPELINE_H_
