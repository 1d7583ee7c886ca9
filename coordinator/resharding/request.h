// Request: what a caller asks for, checked; the one reader of
// proto/v1/resharding.proto, whether it came over gRPC or from a file.
//
// In → Out: unit tasks, or a tensor between two meshes → a valid problem.
// Errors: kInvalidArgument, one sentence that names the task or the field, by
// its path in docs/formats/reshard.md.
// Threads: pure.
#ifndef MESHWRIGHT_COORDINATOR_RESHARDING_REQUEST_H_
#define MESHWRIGHT_COORDINATOR_RESHARDING_REQUEST_H_

#include <optional>

#include "absl/status/statusor.h"
#include "planner/reshard/decompose/decompose.h"
#include "planner/reshard/problem/reshard_problem.h"
#include "proto/v1/resharding.pb.h"

namespace meshwright::resharding {

struct Request {
  reshard::ReshardProblem problem;
  std::optional<reshard::Units> units;  // of a tensor
};

// Solver, seed and deadline are not looked at. Lists without elements are
// absent in a message; a file may hold an empty list of tasks (`lists_tasks`),
// which is a valid problem.
absl::StatusOr<Request> ReadRequest(const v1::ReshardingRequest& message,
                                    bool lists_tasks = false);

}  // namespace meshwright::resharding

#endif  // MESHWRIGHT_COORDINATOR_RESHARDING_REQUEST_H_
