#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/plan_file.h"
#include "cli/verbs/context.h"
#include "planner/checkpoint/chain_json.h"

namespace meshwright::cli {
namespace {

struct CheckpointFlags {
  std::string chain;
  std::string budget;
  std::optional<double> deadline_seconds;
};

absl::Status RunCheckpoint(const Context& context,
                           const CheckpointFlags& arguments) {
  const auto budget = ParseBytes(arguments.budget);
  if (!budget.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--budget: ", budget.status().message()));
  }
  ASSIGN_OR_RETURN(const auto deadline,
                   ParseDeadline(arguments.deadline_seconds));
  ASSIGN_OR_RETURN(const std::string chain, base::ReadFile(arguments.chain));
  const base::Interrupt interrupt;
  checkpoint::Options options;
  options.deadline.stop = interrupt.token();
  options.deadline.at = deadline;
  ASSIGN_OR_RETURN(const std::string answer,
                   NamePath(checkpoint::CheckpointJson(chain, *budget, options),
                            arguments.chain));
  *context.out << answer << "\n";
  return absl::OkStatus();
}

}  // namespace

void AddCheckpointVerb(CLI::App& app, Context& context) {
  const auto arguments = std::make_shared<CheckpointFlags>();
  CLI::App* const verb = AddVerb(
      app, context, "checkpoint",
      "decide which activations to keep and which to recompute",
      [&context, arguments] { return RunCheckpoint(context, *arguments); });
  verb->add_option("--chain", arguments->chain, "the chain as JSON")
      ->required();
  verb->add_option("--budget", arguments->budget,
                   "memory of the device, such as 16GiB")
      ->required();
  verb->add_option("--deadline", arguments->deadline_seconds,
                   "print the best schedule after this many seconds");
}

}  // namespace meshwright::cli
