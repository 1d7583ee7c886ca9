// Requests and answers as the JSON of docs/formats/reshard.md.
//
// Concept: the JSON has the fields of proto/v1/resharding.proto by their names.
// It is read into that message, whose checks are those of request.h. Names may
// be integers in JSON, which the message holds as their digits.
// Errors: kInvalidArgument, one sentence that names the task or the field.
// Threads: pure.
#ifndef MESHWRIGHT_COORDINATOR_RESHARDING_REQUEST_JSON_H_
#define MESHWRIGHT_COORDINATOR_RESHARDING_REQUEST_JSON_H_

#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "coordinator/resharding/request.h"
#include "planner/reshard/solve.h"
#include "proto/v1/resharding.pb.h"

namespace meshwright::resharding {

struct JsonRequest {
  v1::ReshardingRequest message;  // without solver, seed and deadline
  Request request;
  // Names written without quotes, and answered so.
  absl::flat_hash_set<std::string> integer_ids;
  absl::flat_hash_set<std::string> integer_hosts;
};

absl::StatusOr<JsonRequest> RequestFromJson(std::string_view json);

// `answer` belongs to the request (answer_message.h).
std::string AnswerToJson(const JsonRequest& request,
                         const v1::ReshardingAnswer& answer);

// `meshwright reshard` without the command line.
absl::StatusOr<std::string> AnswerReshardJson(
    std::string_view json, const reshard::Options& options = {});

}  // namespace meshwright::resharding

#endif  // MESHWRIGHT_COORDINATOR_RESHARDING_REQUEST_JSON_H_
