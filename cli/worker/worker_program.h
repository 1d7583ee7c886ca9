// The program meshwright-worker, its flags apart from its run.
//
// Concept: cli/verbs describes every program, so the flags can be had without
// starting anything. The program links no part of a coordinator.
// Errors: RunWorker says one sentence on stderr and returns an exit status
// (base/exit_status.h).
#ifndef MESHWRIGHT_CLI_WORKER_WORKER_PROGRAM_H_
#define MESHWRIGHT_CLI_WORKER_WORKER_PROGRAM_H_

#include <ostream>
#include <string>
#include <vector>

#include "worker/service/worker.h"

namespace CLI {
class App;
}  // namespace CLI

namespace meshwright::cli {

inline constexpr char kWorkerProgram[] = "meshwright-worker";
inline constexpr char kWorkerDescription[] =
    "Runs programs for a Meshwright coordinator.";

struct WorkerFlags {
  worker::Worker::Dependencies worker;
  std::string platform = "cpu";
  std::string plugin;
  bool solo = false;
  std::string device_choice;
  std::string health;
  std::string log_format = "text";
  double drain_seconds = 60;
  bool while_idle = false;
  double idle_seconds = 60;
};

// Adds the flags. `flags` and `out` outlive the parsing.
void SetUpWorker(CLI::App& app, WorkerFlags* flags, std::ostream* out);

// `arguments` without the program's name. The first SIGINT or SIGTERM drains
// the worker, the second one stops it at once; with --while-idle, the first.
int RunWorker(const std::vector<std::string>& arguments);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_WORKER_WORKER_PROGRAM_H_
