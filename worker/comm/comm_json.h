// The plan of an executor and its report, as JSON (docs/formats/executor.md).
//
// Errors: kInvalidArgument, one sentence that names the field.
#ifndef MESHWRIGHT_WORKER_COMM_COMM_JSON_H_
#define MESHWRIGHT_WORKER_COMM_COMM_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/comm/member.h"
#include "worker/comm/plan.h"

namespace meshwright::worker::comm {

struct PlanFile {
  Plan plan;         // valid
  std::string host;  // empty where the file does not say
};

absl::StatusOr<PlanFile> PlanFromJson(std::string_view text);

std::string ReportJson(const Plan& plan, int self, const Outcome& outcome);

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_COMM_JSON_H_
