#include "planner/pipeline/testing/random_pipeline.h"

#include <random>

namespace meshwright::pipeline {

PipelineProblem RandomPipeline(uint64_t seed, const PipelineKind& kind) {
  std::mt19937_64 random(seed);
  const auto upto = [&](int64_t largest) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(largest + 1));
  };
  const auto zero = [&] { return kind.zeros && upto(2) == 0; };
  PipelineProblem problem;
  problem.micro_batches = kind.micro_batches;
  problem.overlap = kind.overlap;
  for (int i = 0; i < kind.stages; ++i) {
    Stage stage;
    stage.forward = Picoseconds(1 + upto(kind.longest - 1));
    stage.backward_input = Picoseconds(1 + upto(kind.longest - 1));
    stage.backward_weight = Picoseconds(zero() ? 0 : upto(kind.longest));
    stage.activation_bytes = 10 + upto(100);
    stage.persistent_bytes = upto(1000);
    if (upto(1) == 0) stage.delayed_bytes = upto(2 * stage.activation_bytes);
    if (upto(1) == 0) {
      stage.backward = Picoseconds(1 + upto(2 * kind.longest - 1));
    }
    problem.stages.push_back(stage);
    if (i + 1 == kind.stages) break;
    Transfer transfer;
    transfer.forward = Picoseconds(zero() ? 0 : upto(kind.longest_transfer));
    transfer.backward = Picoseconds(zero() ? 0 : upto(kind.longest_transfer));
    problem.transfers.push_back(transfer);
  }
  return problem;
}

PipelineProblem MakeEqualStages(int stages, int micro_batches,
                                const Stage& stage, const Transfer& transfer,
                                bool overlap) {
  PipelineProblem problem;
  problem.stages.assign(stages, stage);
  problem.transfers.assign(stages - 1, transfer);
  problem.micro_batches = micro_batches;
  problem.overlap = overlap;
  return problem;
}

}  // namespace meshwright::pipeline
