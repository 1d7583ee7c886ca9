// RunningProgram: another program, as a child that dies with this process.
//
// Concept: the child has this process's files and environment; a program that
// is not there ends with status 127, as in a shell. When the thread that
// started it ends, the kernel sends it SIGTERM.
// Threads and ownership: one thread; the destructor kills and reaps.
// Errors: kFailedPrecondition for RunProgram's program that fails, with its
// name and what to do; kInternal where no process or pipe is to be had.
#ifndef MESHWRIGHT_CLI_SLURM_PROGRAMS_H_
#define MESHWRIGHT_CLI_SLURM_PROGRAMS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace meshwright::cli {

class RunningProgram {
 public:
  // `arguments[0]` is looked for in PATH. `variables` ("NAME=VALUE") are added
  // to the environment, or replace what is there. `own_group`: a person's
  // Ctrl-C does not reach it.
  static absl::StatusOr<std::unique_ptr<RunningProgram>> Start(
      const std::vector<std::string>& arguments,
      const std::vector<std::string>& variables, bool own_group);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  // Its exit status, or 128 and the signal that ended it; nullopt: it runs
  // after `patience`.
  std::optional<int> AwaitEnd(absl::Duration patience);
  void Signal(int signal);

 private:
  RunningProgram() = default;

  pid_t pid_ = -1;
  int ended_ = -1;  // a pidfd
  std::optional<int> status_;
};

// What the program prints on stdout.
absl::StatusOr<std::string> RunProgram(
    const std::vector<std::string>& arguments);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_SLURM_PROGRAMS_H_
