// meshwright-worker: the worker daemon of one machine.
#include <string>
#include <vector>

#include "cli/worker/worker_program.h"

int main(int argc, char** argv) {
  return meshwright::cli::RunWorker(
      std::vector<std::string>(argv + 1, argv + argc));
}
