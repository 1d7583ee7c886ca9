// Plans of a coordinator, as tables for people and as JSON for scripts
// (docs/formats/plans.md).
//
// Threads: pure functions. Errors: none.
#ifndef MESHWRIGHT_CLI_TEXT_PLANS_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_PLANS_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/v1/plan_record.pb.h"

namespace meshwright::cli {

std::string FormatPlanState(v1::PlanState state);  // "measuring"
// Errors: kInvalidArgument, naming those there are.
absl::StatusOr<v1::PlanState> ParsePlanState(const std::string& name);

// `plan` only where it is asked for and there is one.
nlohmann::ordered_json PlanRecordToJson(const v1::PlanRecord& record,
                                        absl::Time now, bool with_plan);

std::string FormatPlans(const std::vector<v1::PlanRecord>& records,
                        absl::Time now);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_PLANS_TEXT_H_
