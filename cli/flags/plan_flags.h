// The flags that say what to plan: of `plan`, `plans submit` and
// `profiles coverage`.
//
// Errors: ToPlanRequest gives kInvalidArgument for a mesh, a size, a strategy
// or a model that is none, in one sentence.
#ifndef MESHWRIGHT_CLI_FLAGS_PLAN_FLAGS_H_
#define MESHWRIGHT_CLI_FLAGS_PLAN_FLAGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/flags/device_flags.h"
#include "cli/flags/stage_flags.h"
#include "cli/flags/strategy_flags.h"
#include "proto/v1/plan.pb.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace meshwright::cli {

struct PlanFlags {
  std::string model;
  std::string mesh;
  std::string device_memory;
  std::string xla_flags;
  bool no_wait = false;
  bool full_space = false;
  bool retry_failures = false;
  bool unknown_machine = false;
  StageFlags stages;
  StrategyFlags strategies;
  std::string links;
  DeviceFlags devices;
};

// Those that say what is planned and on which devices, without stages.
void AddStepFlags(CLI::App& verb, PlanFlags* flags);
// All. Returns the option --stages, which some verbs exclude.
CLI::Option* AddPlanFlags(CLI::App& verb, PlanFlags* flags);

absl::StatusOr<v1::PlanRequest> ToPlanRequest(const PlanFlags& flags);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_FLAGS_PLAN_FLAGS_H_
