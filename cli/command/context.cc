#include "cli/command/context.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace meshwright::cli {

CLI::App* AddVerb(CLI::App& parent, Context& context, const std::string& name,
                  const std::string& description,
                  std::function<absl::Status()> run) {
  CLI::App* const verb = parent.add_subcommand(name, description);
  verb->add_flag("--json", context.json,
                 "results as JSON on stdout, messages on stderr");
  verb->callback([&context, run = std::move(run)] { context.run = run; });
  return verb;
}

}  // namespace meshwright::cli
