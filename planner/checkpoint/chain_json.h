// ChainJson: `meshwright checkpoint` without the command line.
//
// In → Out: a chain as JSON and a budget → the answer as JSON
// (docs/formats/checkpoint.md). That nothing fits is an answer:
// "feasible": false.
// Errors: those of Validate and Solve, and of the JSON, one sentence each.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_CHAIN_JSON_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_CHAIN_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/checkpoint/chain.h"
#include "planner/checkpoint/solve.h"

namespace meshwright::checkpoint {

absl::StatusOr<Chain> ParseChain(std::string_view json);

std::string AnswerToJson(const Answer& answer, int64_t budget_bytes);

absl::StatusOr<std::string> AnswerCheckpointJson(std::string_view json,
                                                 int64_t budget_bytes,
                                                 const Options& options = {});

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_CHAIN_JSON_H_
