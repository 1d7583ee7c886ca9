// Context: what every verb is given, and how the verbs reach the command line.
//
// Concept: a verb adds its CLI11 subcommand and says what to run when the
// subcommand is chosen. Parsing is over before anything runs, and no exception
// of CLI11 leaves app.cc.
// In → Out: results on `out`, everything else on `err`.
// Errors: the status of `run` becomes one line and the exit status (app.h).
#ifndef MESHWRIGHT_CLI_VERBS_CONTEXT_H_
#define MESHWRIGHT_CLI_VERBS_CONTEXT_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "base/clock.h"

namespace CLI {
class App;
}  // namespace CLI

namespace meshwright::cli {

struct Streams {
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  bool terminal = false;  // err is one: progress is shown
};

struct Context : Streams {
  const base::Clock* clock = nullptr;
  bool json = false;  // --json of the chosen verb
  // What the chosen verb does; set while parsing.
  std::function<absl::Status()> run;
};

// A subcommand of `parent` with --json, which runs `run` when chosen.
CLI::App* AddVerb(CLI::App& parent, Context& context, const std::string& name,
                  const std::string& description,
                  std::function<absl::Status()> run);

template <typename Flags>
struct Verb {
  CLI::App* app;
  Flags* flags;  // live as long as `app`
};

// The same with flags, which parsing fills.
template <typename Flags>
Verb<Flags> AddVerb(CLI::App& parent, Context& context, const std::string& name,
                    const std::string& description,
                    absl::Status (*run)(const Context&, const Flags&)) {
  const auto flags = std::make_shared<Flags>();
  return {AddVerb(parent, context, name, description,
                  [&context, flags, run] { return run(context, *flags); }),
          flags.get()};
}

// --store of the verbs that look after one.
void AddStoreFlag(CLI::App& verb, std::string& path);

void AddAnalyzeVerb(CLI::App& app, Context& context);
void AddCheckpointVerb(CLI::App& app, Context& context);
void AddCompletionVerbs(CLI::App& app, Context& context);
void AddCoverageVerb(CLI::App& profiles, Context& context);
void AddDiffVerb(CLI::App& app, Context& context);
void AddDoctorVerb(CLI::App& app, Context& context);
void AddExplainVerb(CLI::App& app, Context& context);
void AddExportVerb(CLI::App& app, Context& context);
void AddJobsVerb(CLI::App& app, Context& context);
void AddLayoutVerb(CLI::App& app, Context& context);
void AddPipelineVerb(CLI::App& app, Context& context);
void AddPlanVerb(CLI::App& app, Context& context);
void AddPlansVerb(CLI::App& app, Context& context);
void AddProfilesVerb(CLI::App& app, Context& context);
void AddReshardVerb(CLI::App& app, Context& context);
void AddSearchVerb(CLI::App& app, Context& context);
void AddStoreVerb(CLI::App& app, Context& context);
void AddTokensVerb(CLI::App& app, Context& context);
void AddUpVerb(CLI::App& app, Context& context);
void AddUpkeepVerbs(CLI::App& profiles, Context& context);
void AddValidateVerb(CLI::App& app, Context& context);
void AddWhatIfVerb(CLI::App& app, Context& context);
void AddWorkersVerb(CLI::App& app, Context& context);

// Makes `app` the program that is a coordinator alone: its name, its flags.
void SetUpCoordinator(CLI::App& app, Context& context);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_VERBS_CONTEXT_H_
