#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/plan_file.h"
#include "cli/verbs/context.h"
#include "planner/layout/layout_json.h"

namespace meshwright::cli {
namespace {

struct LayoutFlags {
  std::string cases;
  std::optional<double> deadline_seconds;
};

absl::Status RunLayout(const Context& context, const LayoutFlags& arguments) {
  layout::SearchOptions options;
  ASSIGN_OR_RETURN(options.deadline.at,
                   ParseDeadline(arguments.deadline_seconds));
  ASSIGN_OR_RETURN(const std::string cases, base::ReadFile(arguments.cases));
  const base::Interrupt interrupt;
  options.deadline.stop = interrupt.token();
  ASSIGN_OR_RETURN(
      const std::string answer,
      NamePath(layout::LayoutJson(cases, options), arguments.cases));
  *context.out << answer << "\n";
  return absl::OkStatus();
}

}  // namespace

void AddLayoutVerb(CLI::App& app, Context& context) {
  const auto arguments = std::make_shared<LayoutFlags>();
  CLI::App* const verb =
      AddVerb(app, context, "layout",
              "find the cheapest conversions between shardings of a tensor",
              [&context, arguments] { return RunLayout(context, *arguments); });
  verb->add_option("--cases", arguments->cases, "the cases as JSON")
      ->required();
  verb->add_option("--deadline", arguments->deadline_seconds,
                   "print the best paths after this many seconds");
}

}  // namespace meshwright::cli
