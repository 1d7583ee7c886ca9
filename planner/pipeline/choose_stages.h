// ChooseStages: partition and schedule together.
//
// Concept: the schedules hold different numbers of activations, so under a
// memory limit each has its own best partition. For every kind of them the best
// partition by the formula (partition.h) is found, then all allowed schedules
// are simulated on it (choose.h). The fastest simulated step wins, and of equal
// ones the first kind.
// In → Out: a problem → the partition, its stages and the choice of a schedule.
// If nothing fits, the minimum memory over all partitions. Anytime, ties,
// threads: as PartitionStages and Choose.
// Errors: kInvalidArgument for a problem that does not validate; kOutOfRange
// for one whose tables would not fit into memory; kDeadlineExceeded where the
// deadline came before the first partition and one stage does not fit.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_CHOOSE_STAGES_H_
#define MESHWRIGHT_PLANNER_PIPELINE_CHOOSE_STAGES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/pipeline/choose.h"
#include "planner/pipeline/partition.h"
#include "planner/pipeline/partition_problem.h"

namespace meshwright::pipeline {

struct StagesChoice {
  struct Chosen {
    PartitionAnswer partition;
    PipelineProblem stages;
    Choice choice;
  };
  std::optional<Chosen> chosen;  // empty: nothing fits
  // When nothing fits the limit; empty also then: no limit would do.
  std::optional<int64_t> min_bytes;
};

// One schedule of every kind of memory; all are alike without a limit.
std::vector<Schedule> ListMemoryKinds(const PartitionProblem& problem,
                                      std::optional<Schedule> only);

absl::StatusOr<StagesChoice> ChooseStages(
    const PartitionProblem& problem,
    std::optional<Schedule> only = std::nullopt,
    const base::Deadline& deadline = {});

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_CHOOSE_STAGES_H_
