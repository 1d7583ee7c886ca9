// Batch: all programs of one job file, in the child process.
//
// Concept: programs are compiled in pieces of a few. They are timed in groups
// that fit the memory together, round-robin, so that near-equal programs meet
// the same machine. Nothing compiles while something is timed.
//
//   request ─▶ [reference] ─▶ piece: compile (threads) ─▶ groups that fit
//              runs once                │                  upload, check, time
//                                       ▼                        ▼
//                             compile_failed, ...           result rows
//
// The memory that a program needs is compared with that of the device. More
// than that is a row (OUT_OF_MEMORY); more than what is free right now is
// transient, no row. So is what an accelerator's compiler lacks. A sequence
// (sequence.h) runs first, as a whole; then its programs are timed, beside the
// timed_only programs. Its compile_only programs are left out, because an
// earlier child died in them. Events before and after each step tell the parent
// where a child died.
// A member of a gang agrees with the others after every step that may fail on
// one alone (agreement.h). Collectors and anchors watch and run the same on all
// of them. It has no collectives timed alone.
// Threads: one; compiles on a pool of its own.
// Where a reference needs more memory than its devices have, every program's
// row says so (ProfileResult.reference_too_large).
// Errors: a failure of one program is its result row. Run fails only where
// nothing can be measured: another error of the reference, kInvalidArgument for
// a sequence that does not fit its programs, kResourceExhausted.
#ifndef MESHWRIGHT_WORKER_RUNNER_BATCH_H_
#define MESHWRIGHT_WORKER_RUNNER_BATCH_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/v1/job.pb.h"
#include "worker/collect/kernel_watch.h"
#include "worker/devices/cache_sweep.h"
#include "worker/devices/sensors.h"
#include "worker/pjrt/client.h"
#include "worker/runner/agreement.h"
#include "worker/runner/anchors.h"
#include "worker/runner/benchmarked_program.h"
#include "worker/runner/collective_timer.h"
#include "worker/runner/executable_cache.h"
#include "worker/runner/group_timing.h"
#include "worker/runner/input_cache.h"
#include "worker/runner/quiet_period.h"
#include "worker/sandbox/event_stream.h"
#include "worker/timing/protocol.h"

namespace meshwright::worker::runner {

struct BatchOptions {
  int compile_threads = 1;
  // Virtual devices share the machine's memory; others have their own.
  bool devices_share_memory = true;
  // The memory that they share, or that each has, and the free part of it.
  int64_t device_bytes = int64_t{8} << 30;
  int64_t free_bytes = int64_t{4} << 30;
  // Of host memory, for inputs that several programs share.
  int64_t input_cache_bytes = int64_t{1} << 30;
  QuietMachine quiet;  // what it points to outlives the batch
  sandbox::ProgressPage* progress = nullptr;
  devices::CacheSweep* caches = nullptr;      // null: they stay as they are
  const devices::Sensors* sensors = nullptr;  // null: there are none
  collect::KernelWatch* kernels = nullptr;    // null: nothing tells of kernels
  GangLine* gang = nullptr;        // to the other members; null: alone
  std::string executables_folder;  // of the batch; empty: none is kept
  std::string machine_notes;       // for the rows
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
        collective_timer_(client, protocol),
        executables_(options.executables_folder, options.gang),
        inputs_(options.input_cache_bytes) {
    for (int i = 0; i < request.programs_size(); ++i) {
      numbers_[request.programs(i).key()] = i;
    }
  }

  // Every program has its result event when it returns OK. Errors: see above.
  absl::Status Run();

 private:
  using BenchmarkedPrograms = std::vector<std::unique_ptr<BenchmarkedProgram>>;
  absl::Status RunReference();
  // Every program's row.
  void RefuseReference(const absl::Status& status);
  absl::Status RunSequences();
  // The memories that a program is spread over, and what it needs of each.
  int CountPools(const BenchmarkedProgram& loaded) const;
  int64_t CountFootprint(const BenchmarkedProgram& loaded) const;
  // Leaves those timed only out that do not fit beside the sequence's.
  absl::Status FitCompanions(BenchmarkedPrograms& loaded_programs);
  absl::Status Compare(
      const std::vector<std::optional<pjrt::HostArray>>& results,
      const std::vector<std::optional<pjrt::HostArray>>& reference);
  absl::StatusOr<std::unique_ptr<BenchmarkedProgram>> Load(
      const v1::Program& program);
  // For MakeFailureRow. A compiler tries kernels on an accelerator: where it
  // lacks memory, others may have it.
  v1::Outcome FindCompileOutcome(const v1::Program& program,
                                 const absl::Status& status) const;
  BenchmarkedPrograms Compile(int begin, int end);
  void MeasureInGroups(BenchmarkedPrograms loaded_programs);
  void MeasureGroup(BenchmarkedPrograms loaded_programs);
  // Sets of inputs that fit the memory beside all that they run with.
  int ChooseBufferSets(const BenchmarkedPrograms& loaded_programs) const;
  TimedProgram Open(std::unique_ptr<BenchmarkedProgram> loaded);
  void Prepare(TimedProgram& program, int buffer_sets);
  // The times of its collectives.
  void Learn(TimedProgram& program);
  // The program's row is this; it is not timed.
  void Fail(TimedProgram& program, v1::Outcome outcome,
            const absl::Status& status);
  void Time(std::vector<TimedProgram>& programs, QuietPeriod& quiet);
  // Null where they cannot be had: the rows have none then.
  const Anchors* GetAnchors();

  const v1::RunnerRequest& request_;
  const timing::Protocol& protocol_;
  const pjrt::Client& client_;
  const BatchOptions options_;
  const Agreement agreement_{options_.gang};
  Patience patience_{options_.quiet.calm_limit};
  sandbox::EventWriter& events_;
  CollectiveTimer collective_timer_;
  ExecutableCache executables_;
  InputCache inputs_;
  std::map<std::string, int> numbers_;  // of all programs, by key
  bool anchors_tried_ = false;
  std::unique_ptr<Anchors> anchors_;
  std::vector<pjrt::HostArray> reference_;
};

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_BATCH_H_
