#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/strip.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/plan_file.h"
#include "cli/verbs/context.h"
#include "planner/search/tradeoffs/search_json.h"

namespace meshwright::cli {
namespace {

struct SearchFlags {
  std::string file;
  std::optional<double> deadline_seconds;
  search::SearchWishes wishes;
};

absl::Status RunSearch(const Context& context, const SearchFlags& arguments) {
  search::SearchWishes wishes = arguments.wishes;
  ASSIGN_OR_RETURN(wishes.deadline.at,
                   ParseDeadline(arguments.deadline_seconds));
  ASSIGN_OR_RETURN(const std::string problem, base::ReadFile(arguments.file));
  const base::Interrupt interrupt;
  wishes.deadline.stop = interrupt.token();
  ASSIGN_OR_RETURN(
      const std::string answer,
      NamePath(search::SearchJson(problem, wishes), arguments.file));
  *context.out << absl::StripSuffix(answer, "\n") << "\n";
  return absl::OkStatus();
}

}  // namespace

void AddSearchVerb(CLI::App& app, Context& context) {
  const auto arguments = std::make_shared<SearchFlags>();
  CLI::App* const verb =
      AddVerb(app, context, "search",
              "choose the configurations of a plan problem from a file",
              [&context, arguments] { return RunSearch(context, *arguments); });
  verb->add_option("file", arguments->file, "the problem as JSON")->required();
  verb->add_option("--front", arguments->wishes.front_points,
                   "print up to N plans of time against memory");
  verb->add_option("--deadline", arguments->deadline_seconds,
                   "print the best plan after this many seconds");
  verb->add_option("--headroom", arguments->wishes.headroom_percent,
                   "percent of the memory limit left to the allocator");
}

}  // namespace meshwright::cli
