// ReshardJson: `meshwright reshard` without the command line.
//
// In → Out: tasks, or a tensor and its two meshes, as JSON → a schedule as JSON
// (docs/formats/reshard.md).
// Errors: kInvalidArgument, one sentence that names the task or the field.
#ifndef MESHWRIGHT_PLANNER_RESHARD_RESHARD_JSON_H_
#define MESHWRIGHT_PLANNER_RESHARD_RESHARD_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/reshard/request.h"
#include "planner/reshard/solve.h"

namespace meshwright::reshard {

absl::StatusOr<Written> WrittenFromJson(std::string_view json);
absl::StatusOr<Request> RequestFromJson(std::string_view json);

std::string AnswerToJson(const Request& request, const Answer& answer);

absl::StatusOr<std::string> ReshardJson(std::string_view json,
                                        const Options& options = {});

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_RESHARD_JSON_H_
