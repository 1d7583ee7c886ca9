// Context: what every verb is given, and how it adds itself to the command
// line.
//
// Concept: a verb adds its CLI11 subcommand and says what to run when the
// subcommand is chosen. Parsing is over before anything runs, and no exception
// of CLI11 leaves app.cc.
// In → Out: results on `out`, everything else on `err`.
// Errors: the status of `run` becomes one line and the exit status (app.h).
#ifndef MESHWRIGHT_CLI_COMMAND_CONTEXT_H_
#define MESHWRIGHT_CLI_COMMAND_CONTEXT_H_

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
  // The action of the chosen verb; set while parsing.
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

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_COMMAND_CONTEXT_H_
