#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "cli/verbs/app.h"

int main(int argc, char** argv) {
  // A reader that leaves is an error of a write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const int status = meshwright::cli::RunCommand(
      arguments, {&std::cout, &std::cerr, isatty(STDERR_FILENO) == 1});
  std::cout.flush();
  std::cerr.flush();
  // A solver's run that was left behind (planner/ilp) keeps nobody waiting.
  std::_Exit(status);
}
