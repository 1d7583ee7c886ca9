#include "tests/bench/step_flags.h"

#include <CLI/CLI.hpp>

namespace meshwright {

void AddStepFlags(CLI::App& app, StepFlags& flags) {
  app.add_option("--mesh", flags.mesh)
      ->delimiter('x')
      ->allow_extra_args(false);  // what follows it are files
  app.add_flag("--open", flags.open);
  app.add_option("--random", flags.random_plans);
  app.add_option("--seed", flags.seed);
  app.add_option("--tolerance", flags.tolerance);
  app.add_option("files", flags.files)->required();
}

}  // namespace meshwright
