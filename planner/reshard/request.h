// Request: what a caller asks for, as it is written and as it is checked.
//
// Concept: a request comes as JSON (reshard_json.h) or as a message over gRPC;
// both readers make a Written of it, and what they say about it is said here,
// so that a mistake is called the same wherever it is made.
// Errors: kInvalidArgument, one sentence that names the task or the field, by
// its path in docs/formats/reshard.md.
#ifndef MESHWRIGHT_PLANNER_RESHARD_REQUEST_H_
#define MESHWRIGHT_PLANNER_RESHARD_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/reshard/decompose/decompose.h"
#include "planner/reshard/problem/reshard_problem.h"

namespace meshwright::reshard {

struct Name {
  std::string text;
  bool number = false;  // written without quotes, and answered so
};

struct WrittenTask {
  Name id;
  int64_t size_bytes = 0;
  std::vector<Name> senders;
  std::vector<Name> receivers;
};

struct WrittenSide {
  std::vector<int64_t> mesh;
  std::string spec;
  std::optional<std::vector<Name>> hosts;
};

struct WrittenTensor {
  std::vector<int64_t> shape;
  int64_t elem_bytes = 0;
  WrittenSide source;
  WrittenSide target;
};

struct WrittenPorts {
  std::optional<double> out_bytes_per_s;
  std::optional<double> in_bytes_per_s;
  std::optional<int64_t> out_links;
  std::optional<int64_t> in_links;
};

struct WrittenRoute {
  Name from;
  Name to;
  double bytes_per_s = 0;
};

struct Written {
  double bandwidth_bytes_per_s = 0;
  std::optional<std::vector<WrittenTask>> tasks;
  std::optional<WrittenTensor> resharding;
  std::vector<std::pair<std::string, WrittenPorts>> hosts;
  std::vector<WrittenRoute> routes;
  bool split = false;
};

struct Request {
  ReshardProblem problem;          // valid
  std::optional<Units> units;      // of a tensor
  std::vector<bool> number_ids;    // per task
  std::vector<bool> number_hosts;  // per host
};

absl::StatusOr<Request> MakeRequest(const Written& written);

// A field that must be there is not.
absl::Status Missing(const std::string& field);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_REQUEST_H_
