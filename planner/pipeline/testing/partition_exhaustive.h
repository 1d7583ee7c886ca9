// Every partition of a few segments, one by one; the oracle.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_TESTING_PARTITION_EXHAUSTIVE_H_
#define MESHWRIGHT_PLANNER_PIPELINE_TESTING_PARTITION_EXHAUSTIVE_H_

#include <cstdint>
#include <optional>

#include "planner/pipeline/partition_problem.h"
#include "planner/pipeline/pipeline_problem.h"

namespace meshwright::pipeline {

struct ExhaustivePartition {
  std::optional<Picoseconds> step;   // of the best that fits
  std::optional<int64_t> min_bytes;  // of the one that needs least
};

ExhaustivePartition PartitionExhaustively(const PartitionProblem& problem,
                                          Schedule schedule);

struct PartitionKind {
  int segments = 5;
  int meshes = 3;  // of 1, 2, 4 ... devices
  int64_t devices = 8;
  int micro_batches = 8;
  bool overlap = true;
  int64_t longest = 1000;
  bool gaps = false;    // some segments run on some meshes only
  bool tables = false;  // stages are no sums of segments
};

// No memory limit.
PartitionProblem RandomPartition(uint64_t seed, const PartitionKind& kind);

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_TESTING_PARTITION_EXHAUSTIVE_H_
