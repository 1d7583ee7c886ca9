// Batch: all programs of one job file, in the child process.
//
// Concept: programs are compiled in pieces of a few, then timed in groups that
// fit the memory together, round-robin, so that near-equal programs meet the
// same machine. Nothing compiles while something is timed.
//
//   request ─▶ [reference] ─▶ piece: compile (threads) ─▶ groups that fit
//              runs once                │                  upload, check, time
//                                       ▼                        ▼
//                             compile_failed, ...           result rows
//
// A sequence (sequence.h) runs first, as a whole; then its programs are timed,
// beside the timed_only programs. Its compile_only programs are left out,
// because an earlier child died in them.
// Events before and after each step tell the parent where a child died.
// Threads: one; compiles on a pool of its own.
// Errors: a failure of one program is its result row. Run fails only where
// nothing can be measured: the reference's error, kInvalidArgument for a
// sequence that does not fit its programs, kResourceExhausted.
#ifndef MESHWRIGHT_WORKER_RUNNER_BATCH_H_
#define MESHWRIGHT_WORKER_RUNNER_BATCH_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/v1/job.pb.h"
#include "worker/devices/idle_spinner.h"
#include "worker/pjrt/client.h"
#include "worker/runner/benchmarked_program.h"
#include "worker/runner/collective_timer.h"
#include "worker/sandbox/event_stream.h"
#include "worker/timing/protocol.h"

namespace meshwright::worker::runner {

struct BatchOptions {
  int compile_threads = 1;
  // Memory that the groups may fill with inputs and temporaries.
  int64_t memory_bytes = int64_t{4} << 30;
  // Kept awake while programs are timed, if any. Outlives the batch.
  devices::IdleSpinner* cores = nullptr;
  std::string allocator;  // its name, for the rows
};

class Batch {
 public:
  // All outlive the batch.
  Batch(const v1::RunnerRequest& request, const timing::Protocol& protocol,
        const pjrt::Client& client, const BatchOptions& options,
        sandbox::EventWriter& events)
      : request_(request),
        protocol_(protocol),
        client_(client),
        options_(options),
        events_(events),
        collective_timer_(client, protocol) {}

  absl::Status Run();

 private:
  using BenchmarkedPrograms = std::vector<std::unique_ptr<BenchmarkedProgram>>;
  // A program of a group and its row in the making.
  struct Entry {
    std::unique_ptr<BenchmarkedProgram> loaded;
    v1::ProfileResult result;
    bool failed = false;
  };

  absl::Status RunReference();
  absl::Status RunSequences();
  // Leaves those timed only out that do not fit beside the sequence's.
  absl::Status FitCompanions(BenchmarkedPrograms& loaded_programs);
  absl::Status Compare(
      const std::vector<std::optional<pjrt::HostArray>>& results,
      const std::vector<std::optional<pjrt::HostArray>>& reference);
  BenchmarkedPrograms Compile(int begin, int end);
  void MeasureInGroups(BenchmarkedPrograms loaded_programs);
  void MeasureGroup(BenchmarkedPrograms loaded_programs);
  // Sets of inputs that fit the memory beside all that they run with.
  int ChooseBufferSets(const BenchmarkedPrograms& loaded_programs) const;
  void Prepare(Entry& entry, int buffer_sets);
  // The times of its collectives.
  void Learn(Entry& entry);
  // The entry's row is this; it is not timed.
  void Fail(Entry& entry, v1::Outcome outcome, const absl::Status& status);
  void Time(std::vector<Entry>& entries);
  void TimeCollectives(Entry& entry);

  const v1::RunnerRequest& request_;
  const timing::Protocol& protocol_;
  const pjrt::Client& client_;
  const BatchOptions options_;
  sandbox::EventWriter& events_;
  CollectiveTimer collective_timer_;
  std::vector<pjrt::HostArray> reference_;
};

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_BATCH_H_
