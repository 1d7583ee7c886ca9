// SmallProgram: a small program with its inputs on the devices, and what such
// programs take beyond their launch.
//
// Concept: they are timed in round-robin passes with each other and with a
// program that does nothing. The time of the latter, what a launch costs, is
// subtracted.
// Threads: one. Errors: those of compiling, uploading and executing.
#ifndef MESHWRIGHT_WORKER_RUNNER_SMALL_PROGRAM_H_
#define MESHWRIGHT_WORKER_RUNNER_SMALL_PROGRAM_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/hlo/hlo.pb.h"
#include "worker/pjrt/client.h"
#include "worker/timing/protocol.h"

namespace meshwright::worker::runner {

struct SmallProgram {
  std::unique_ptr<pjrt::Executable> executable;
  std::vector<pjrt::Buffer> inputs;  // one per device
};

// A module of one array as its only parameter, which is filled with ones.
absl::StatusOr<SmallProgram> LoadSmallProgram(const pjrt::Client& client,
                                              const hlo::HloModuleProto& module,
                                              int devices);

// By program, at least 0; as few samples as `protocol` allows. None where
// warming up took all of the program's time limit. Calls `on_run` before each
// run.
absl::StatusOr<std::vector<std::optional<absl::Duration>>> TimeBeyondLaunch(
    const pjrt::Client& client, std::vector<SmallProgram> programs, int devices,
    timing::Protocol protocol, const std::function<void()>& on_run = nullptr);

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_SMALL_PROGRAM_H_
