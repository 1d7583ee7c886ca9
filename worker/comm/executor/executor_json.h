// The plan of an executor and its report, as JSON (docs/formats/executor.md).
//
// Errors: kInvalidArgument, one sentence that names the field.
#ifndef MESHWRIGHT_WORKER_COMM_EXECUTOR_EXECUTOR_JSON_H_
#define MESHWRIGHT_WORKER_COMM_EXECUTOR_EXECUTOR_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/comm/executor/rank.h"
#include "worker/comm/protocol/plan.h"

namespace meshwright::worker::comm {

struct PlanFile {
  Plan plan;         // valid
  std::string host;  // empty where the file does not say
};

absl::StatusOr<PlanFile> PlanFromJson(std::string_view text);

std::string FormatReport(const Plan& plan, int self, const Outcome& outcome);

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_EXECUTOR_EXECUTOR_JSON_H_
