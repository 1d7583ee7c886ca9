// OpLevel: plans made operator by operator, as strategies of blocks.
//
// In -> Out: the analysis of a step, how costs are counted, the device and a
// memory limit -> the solver's answer and, where there is a plan, one strategy
// index per block (coordinator/operators/block_choice.h).
// Errors: those of the intra-op solver (planner/intraop/solve.h).
// Source: papers/map_colossal_auto.txt 5.1.
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_OP_LEVEL_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_OP_LEVEL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/export/assumed_device.h"
#include "coordinator/segmenter/analysis.h"
#include "planner/intraop/solve.h"

namespace meshwright::exporting {

struct OpLevelPlan {
  intraop::IntraOpAnswer answer;
  std::vector<int> by_block;
};

absl::StatusOr<OpLevelPlan> MakeOpLevelPlan(
    const segmenter::Analysis& analysis, intraop::CostKind cost,
    const AssumedDevice& device,
    std::optional<int64_t> memory_limit_bytes = std::nullopt);

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_OP_LEVEL_H_
