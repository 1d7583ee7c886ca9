// The flags of `plan --stages`.
//
// Errors: kInvalidArgument, one sentence that names the flag.
#ifndef MESHWRIGHT_CLI_FLAGS_STAGE_FLAGS_H_
#define MESHWRIGHT_CLI_FLAGS_STAGE_FLAGS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/v1/plan.pb.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace meshwright::cli {

struct StageFlags {
  bool stages = false;
  std::optional<int> micro_batches;
  std::string schedule;
  std::string bandwidth;
  std::string device_bandwidth;
  bool no_overlap = false;
  std::string trace;
};

// The flag --stages, which all others need.
CLI::Option* AddStageFlags(CLI::App& verb, StageFlags* flags);
// The flags of stages alone: micro-batches, schedule, bandwidths.
std::vector<CLI::Option*> AddStageTerms(CLI::App& verb, StageFlags* flags);

// Sets `stages` of the request, if they are asked for.
absl::Status ToStageRequest(const StageFlags& flags, v1::PlanRequest* request);
// Sets of them what a flag says.
absl::Status TakeStageTerms(const StageFlags& flags, v1::StageRequest* stages);
// Whether any does.
bool HasStageTerms(const StageFlags& flags);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_FLAGS_STAGE_FLAGS_H_
