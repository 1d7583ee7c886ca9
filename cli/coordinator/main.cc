#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "cli/verbs/app.h"

int main(int argc, char** argv) {
  // A reader that leaves is an error of a write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return meshwright::cli::RunCoordinator(
      arguments, {&std::cout, &std::cerr, isatty(STDERR_FILENO) == 1});
}
