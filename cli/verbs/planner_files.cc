// The verbs that answer a problem of the planner from a JSON file with JSON:
// search, layout, checkpoint.
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/deadline.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/plan_file.h"
#include "cli/verbs/verbs.h"
#include "planner/checkpoint/chain_json.h"
#include "planner/layout/layout_json.h"
#include "planner/search/tradeoffs/search_json.h"

namespace meshwright::cli {
namespace {

struct FileFlags {
  std::string path;
  std::optional<double> deadline_seconds;
  std::string budget;           // of checkpoint
  search::SearchWishes wishes;  // of search
};

using AnswerFunction = std::function<absl::StatusOr<std::string>(
    const std::string& text, const FileFlags& flags,
    const base::Deadline& deadline)>;

absl::Status AnswerFile(const Context& context, const FileFlags& flags,
                        const AnswerFunction& answer) {
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const base::Deadline deadline,
                   ParseDeadline(flags.deadline_seconds, interrupt.token()));
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(flags.path));
  ASSIGN_OR_RETURN(const std::string json, answer(text, flags, deadline));
  *context.out << absl::StripSuffix(json, "\n") << "\n";
  return absl::OkStatus();
}

CLI::App* AddFileVerb(CLI::App& app, Context& context, const std::string& name,
                      const std::string& description,
                      const std::shared_ptr<FileFlags>& flags,
                      const AnswerFunction& answer) {
  return AddVerb(app, context, name, description, [&context, flags, answer] {
    return AnswerFile(context, *flags, answer);
  });
}

// `best`: what a deadline cuts short.
void AddDeadline(CLI::App& verb, const std::string& best, FileFlags& flags) {
  verb.add_option(
      "--deadline", flags.deadline_seconds,
      absl::StrCat("print the best ", best, " after this many seconds"));
}

absl::StatusOr<std::string> AnswerSearch(const std::string& text,
                                         const FileFlags& flags,
                                         const base::Deadline& deadline) {
  search::SearchWishes wishes = flags.wishes;
  wishes.deadline = deadline;
  return NamePath(search::AnswerSearchJson(text, wishes), flags.path);
}

absl::StatusOr<std::string> AnswerLayout(const std::string& text,
                                         const FileFlags& flags,
                                         const base::Deadline& deadline) {
  layout::SearchOptions options;
  options.deadline = deadline;
  return NamePath(layout::AnswerLayoutJson(text, options), flags.path);
}

absl::StatusOr<std::string> AnswerCheckpoint(const std::string& text,
                                             const FileFlags& flags,
                                             const base::Deadline& deadline) {
  const auto budget = ParseBytes(flags.budget);
  if (!budget.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--budget: ", budget.status().message()));
  }
  checkpoint::Options options;
  options.deadline = deadline;
  return NamePath(checkpoint::AnswerCheckpointJson(text, *budget, options),
                  flags.path);
}

}  // namespace

void AddSearchVerb(CLI::App& app, Context& context) {
  const auto flags = std::make_shared<FileFlags>();
  CLI::App* const verb =
      AddFileVerb(app, context, "search",
                  "choose the configurations of a plan problem from a file",
                  flags, AnswerSearch);
  verb->add_option("file", flags->path, "the problem as JSON")->required();
  verb->add_option("--front", flags->wishes.front_points,
                   "print up to N plans of time against memory");
  AddDeadline(*verb, "plan", *flags);
  verb->add_option("--headroom", flags->wishes.headroom_percent,
                   "percent of the memory limit left to the allocator");
}

void AddLayoutVerb(CLI::App& app, Context& context) {
  const auto flags = std::make_shared<FileFlags>();
  CLI::App* const verb =
      AddFileVerb(app, context, "layout",
                  "find the cheapest conversions between shardings of a tensor",
                  flags, AnswerLayout);
  verb->add_option("--cases", flags->path, "the cases as JSON")->required();
  AddDeadline(*verb, "paths", *flags);
}

void AddCheckpointVerb(CLI::App& app, Context& context) {
  const auto flags = std::make_shared<FileFlags>();
  CLI::App* const verb =
      AddFileVerb(app, context, "checkpoint",
                  "decide which activations to keep and which to recompute",
                  flags, AnswerCheckpoint);
  verb->add_option("--chain", flags->path, "the chain as JSON")->required();
  verb->add_option("--budget", flags->budget,
                   "memory of the device, such as 16GiB")
      ->required();
  AddDeadline(*verb, "schedule", *flags);
}

}  // namespace meshwright::cli
