// OpLevel: plans made operator by operator, as strategies of blocks.
//
// In -> Out: the analysis of a step, how costs are counted, the device and a
// memory limit -> the solver's answer. Where there is a plan, it has one
// strategy index per block (coordinator/operators/block_choice.h).
// Errors: those of the intra-op solver (planner/intraop/solve.h), and of
// AlphaBetaLinks::Create (planner/layout/link_costs.h).
// Source: papers/map_colossal_auto.txt 5.1.
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_OP_LEVEL_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_OP_LEVEL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/link.h"
#include "coordinator/export/assumed_device.h"
#include "coordinator/segmenter/analysis.h"
#include "planner/intraop/solve.h"

namespace meshwright::exporting {

struct OpLevelPlan {
  intraop::IntraOpAnswer answer;
  std::vector<int> by_block;
};

struct OpLevelRequest {
  intraop::CostKind cost = intraop::CostKind::kRoofline;
  AssumedDevice device;
  // Of every mesh axis, where they are known; else the assumed device's.
  base::Links links;
  std::optional<int64_t> memory_limit_bytes;
  // Set where the answer is to be the plan, not one to compare with. A plan of
  // blocks cannot express a contraction that is split nowhere.
  bool split_contractions = false;
};

absl::StatusOr<OpLevelPlan> MakeOpLevelPlan(const segmenter::Analysis& analysis,
                                            const OpLevelRequest& wanted);

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_OP_LEVEL_H_
