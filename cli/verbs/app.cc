#include "cli/verbs/app.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <initializer_list>
#include <utility>

#include "base/exit_status.h"
#include "base/log/log.h"
#include "base/version.h"
#include "cli/cluster/cluster_verbs.h"
#include "cli/flags/store_address.h"
#include "cli/program/help_format.h"
#include "cli/text/tame.h"
#include "cli/verbs/verbs.h"
#include "profiledb/store/away.h"

namespace meshwright::cli {
namespace {

// One line, whatever a message held.
std::string OneLine(std::string text) {
  text = Tame(std::move(text));
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) {
    text.pop_back();
  }
  return text;
}

int Fail(const Streams& streams, const std::string& message, int status) {
  *streams.err << "meshwright: " << OneLine(message) << "\n" << std::flush;
  return status;
}

// Throws CLI::ParseError, also for --help.
void Parse(CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  app.parse(std::move(reversed));
}

// Verbs that --help lists under a title of their own.
void AddGroup(CLI::App& app, Context& context, const char* title,
              std::initializer_list<void (*)(CLI::App&, Context&)> verbs) {
  const size_t before = app.get_subcommands({}).size();
  for (const auto add : verbs) add(app, context);
  const std::vector<CLI::App*> all = app.get_subcommands({});
  for (size_t i = before; i < all.size(); ++i) {
    if (!all[i]->get_group().empty()) all[i]->group(title);
  }
}

int Execute(const Context& context, const Streams& streams) {
  try {
    const absl::Status status = context.run();
    streams.out->flush();
    if (!status.ok()) {
      // One that passes: whoever starts a daemon again may try again.
      return Fail(streams, std::string(status.message()),
                  store::IsAway(status) ? base::kExitFailure
                                        : base::ToExitStatus(status));
    }
  } catch (const std::exception& error) {  // of a foreign library
    return Fail(streams, error.what(), base::kExitFailure);
  }
  if (!*streams.out) {
    return Fail(streams, "cannot write the result to stdout",
                base::kExitBadInput);
  }
  return base::kExitSuccess;
}

}  // namespace

int RunCommand(const std::vector<std::string>& arguments,
               const Streams& streams) {
  const absl::Status may_show = CheckNoPassword(arguments);
  if (!may_show.ok()) {
    return Fail(streams, std::string(may_show.message()), base::kExitBadInput);
  }
  const base::SystemClock clock;
  Context context{streams};
  context.clock = &clock;

  CLI::App app(
      "Meshwright measures how fast a training step runs under different "
      "shardings, and plans the fastest one for a group of accelerators.",
      "meshwright");
  SetHelpFormat(app);
  app.require_subcommand(0, 1);
  bool log = false;
  app.add_flag("-v,--log", log, "log the daemons' work on stderr");
  app.set_version_flag("--version", base::Version(), "print the version");
  AddGroup(app, context, "Plans",
           {AddPlanVerb, AddValidateVerb, AddExplainVerb, AddExportVerb,
            AddDiffVerb, AddWhatIfVerb, AddReportVerbs, AddAnalyzeVerb});
  AddGroup(app, context, "A service and its workers",
           {AddUpVerb, AddPlansVerb, AddJobsVerb, AddWorkersVerb, AddTopVerb,
            AddTokensVerb, AddDoctorVerb});
  AddGroup(app, context, "Measurements and links",
           {AddProfilesVerb, AddStoreVerb, AddClusterVerb});
  AddGroup(app, context, "Parts of the planner, on files",
           {AddSearchVerb, AddLayoutVerb, AddReshardVerb, AddCheckpointVerb,
            AddPipelineVerb});
  AddGroup(app, context, "Shells", {AddCompletionVerbs});

  try {
    Parse(app, arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help
      return app.exit(error, *streams.out, *streams.err);
    }
    const std::vector<CLI::App*> verbs = app.get_subcommands({});
    const bool known =
        !arguments.empty() &&
        std::any_of(verbs.begin(), verbs.end(), [&](const CLI::App* verb) {
          return verb->get_name() == arguments[0];
        });
    if (!known && !arguments.empty() && arguments[0][0] != '-') {
      return Fail(
          streams,
          "there is no verb \"" + arguments[0] + "\"; see meshwright --help",
          base::kExitBadInput);
    }
    return Fail(streams,
                OneLine(error.what()) + "; see meshwright " +
                    (known ? arguments[0] + " " : "") + "--help",
                base::kExitBadInput);
  }
  if (log) base::SetLogLevel(base::LogLevel::kDebug);
  if (!context.run) {
    return Fail(streams,
                arguments.empty() || arguments[0][0] == '-'
                    ? "name a verb, such as plan; see meshwright --help"
                    : arguments[0] +
                          " takes a verb of its own; see meshwright " +
                          arguments[0] + " --help",
                base::kExitBadInput);
  }
  return Execute(context, streams);
}

int RunCoordinator(const std::vector<std::string>& arguments,
                   const Streams& streams) {
  const absl::Status may_show = CheckNoPassword(arguments);
  if (!may_show.ok()) {
    return Fail(streams, std::string(may_show.message()), base::kExitBadInput);
  }
  const base::SystemClock clock;
  Context context{streams};
  context.clock = &clock;
  CLI::App app;
  SetUpCoordinator(app, context);
  try {
    Parse(app, arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help
      return app.exit(error, *streams.out, *streams.err);
    }
    return Fail(streams,
                OneLine(error.what()) + "; see meshwright-coordinator --help",
                base::kExitBadInput);
  }
  return Execute(context, streams);
}

}  // namespace meshwright::cli
