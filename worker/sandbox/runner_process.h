// RunBatch: measures a batch of programs in meshwright-runner children.
//
// Concept: a child takes the whole batch. When it dies, hangs or is killed,
// that costs the one program it was at (its progress page or its last Started
// event). A new child takes those that have no result yet. The third child that
// dies in a program gives it its row, with the reason; one that hangs is
// timed_out at once. Death by SIGKILL is no crash: the program is out of memory
// where the memory group's limit was met, the last time with nothing else in
// the child. Elsewhere the machine had no memory left, or a person did it; that
// is transient. Programs compile in parallel. When a child dies with several in
// the compiler, the next one compiles one by one, so that the guilty one is
// known. A sequence is run again without the program that a child died in and
// without what reads what that one makes.
//
//   spawn ─▶ Ready ─▶ Started/Result ... ─▶ Finished ─▶ done
//     ▲                    │ death, deadline
//     └── the rest ◀── row for the guilty program
//
// A member of a gang has one child: where that dies, the batch is over, because
// the other members have met this one alone. It is told what comes into
// `inbox`.
//
// Confinement: the child restricts itself (restrictions.h) and gets a memory
// group (memory_group.h), a stated environment (environment.h) and a folder of
// its own (base/private_folder.h). Ready names each measure, and whether it
// holds; a machine that refuses one still measures.
// In → Out: `on_event` gets Ready once, every Started and Waiting, exactly one
// Result per program, and Finished last if the batch was done. Of a member of a
// gang also AtGate, Put and Get.
// Threads: RunBatch blocks its thread, which must live until it returns;
// `on_event` and `on_child` are called on it. The stop token may be used from
// any thread.
// Errors: kFailedPrecondition when the devices, the plugin or the reference
// run fail (one sentence; no use to retry). kUnavailable when the plugin fails
// inside or the runner dies before its first program, of a member of a gang
// whenever it dies. kCancelled after a stop.
// kResourceExhausted when the job file does not fit the disk, kAborted when a
// child does not die (undead.h), kNotFound without a runner, kInvalidArgument
// for two programs of one key.
#ifndef MESHWRIGHT_WORKER_SANDBOX_RUNNER_PROCESS_H_
#define MESHWRIGHT_WORKER_SANDBOX_RUNNER_PROCESS_H_

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/v1/job.pb.h"
#include "worker/sandbox/gang_inbox.h"

namespace meshwright::worker::sandbox {

struct RunOptions {
  std::string runner_path;     // empty: FindRunner()
  std::string scratch_folder;  // for job files; empty: $TMPDIR or /tmp
  std::stop_token stop;
  // For a request with a gang, whose place it is; null: no coordinator speaks.
  GangInbox* inbox = nullptr;
  int compile_threads = 0;  // 0: the runner chooses
  // A child may be silent for the limit of its phase and this much more.
  absl::Duration grace = absl::Seconds(10);
  // Children that die in a program, for one outcome, before it gets its row.
  int maximum_crashes = 3;
  std::filesystem::path root = "/";  // of /proc and /sys, for the memory group
  // Gets the process id of every child, for logs and tests.
  std::function<void(int pid)> on_child;
};

using EventFunction = std::function<void(const v1::RunnerEvent&)>;

absl::Status RunBatch(const v1::RunnerRequest& request,
                      const EventFunction& on_event, const RunOptions& options);

// Removes the job folders of workers that were killed; their number.
int SweepJobFolders();

// $MESHWRIGHT_RUNNER, or meshwright-runner that came with this program.
absl::StatusOr<std::string> FindRunner();

}  // namespace meshwright::worker::sandbox

#endif  // MESHWRIGHT_WORKER_SANDBOX_RUNNER_PROCESS_H_
