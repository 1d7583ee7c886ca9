// GroupTiming: times the programs of a group in rounds, and writes their rows.
//
// Concept: the programs take turns with the anchors (anchors.h). All of a group
// thus run in the same minutes as what tells how fast the machine was. A row
// leaves as soon as its program is finished (worker/timing/round_robin.h).
// Between timed runs nothing is written: the progress page says what runs.
// Threads: one.
// Errors: a program that fails has its row; nothing else fails.
#ifndef MESHWRIGHT_WORKER_RUNNER_GROUP_TIMING_H_
#define MESHWRIGHT_WORKER_RUNNER_GROUP_TIMING_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/v1/profile.pb.h"
#include "worker/collect/kernel_watch.h"
#include "worker/devices/cache_sweep.h"
#include "worker/devices/sensors.h"
#include "worker/runner/agreement.h"
#include "worker/runner/anchors.h"
#include "worker/runner/benchmarked_program.h"
#include "worker/runner/collective_timer.h"
#include "worker/runner/quiet_period.h"
#include "worker/sandbox/event_stream.h"
#include "worker/sandbox/progress_page.h"
#include "worker/timing/protocol.h"
#include "worker/timing/round_robin.h"

namespace meshwright::worker::runner {

// A program of a group and its row in the making.
struct TimedProgram {
  std::unique_ptr<BenchmarkedProgram> loaded;
  int number = 0;  // in the request
  v1::ProfileResult result;
  bool failed = false;  // its row is written
};

// kResourceExhausted is OUT_OF_MEMORY; of an execution (CRASHED) it is
// TRANSIENT: a program that fits its devices and gets no memory shares them
// with others.
v1::ProfileResult MakeFailureRow(const std::string& key, v1::Outcome outcome,
                                 const absl::Status& status);

// The settings with which all groups of a batch are timed. Null: there is none.
struct TimingContext {
  const timing::Protocol& protocol;
  const CollectiveTimer& collectives;
  sandbox::EventWriter& events;
  const Agreement& agreement;
  const Anchors* anchors = nullptr;
  sandbox::ProgressPage* progress = nullptr;
  devices::CacheSweep* caches = nullptr;
  const devices::Sensors* sensors = nullptr;
  collect::KernelWatch* kernels = nullptr;
  std::string machine_notes;  // how the processors and memory are kept
  std::string device_id;
  int protocol_version = 0;
};

class GroupTiming {
 public:
  // All outlive it.
  GroupTiming(const TimingContext& context, const QuietPeriod& quiet,
              std::vector<TimedProgram>& programs)
      : context_(context), quiet_(quiet), programs_(programs) {}

  // Every program that has not failed has its row afterwards. `together`: no
  // program ends before the others (RoundRobin::EndTogether).
  void Run(bool together);

 private:
  absl::Status RunTurn(timing::RoundRobin& rounds, const timing::Turn& turn);
  void WatchKernels();
  void WriteRow(const timing::RoundRobin& rounds, int program);
  // What launching a program costs.
  absl::Duration FindLaunch(const timing::RoundRobin& rounds,
                            const v1::Measurement& measurement) const;
  void AddAnchors(const timing::RoundRobin& rounds,
                  v1::Measurement& measurement) const;
  void AddCollectives(const BenchmarkedProgram& loaded,
                      v1::Measurement& measurement) const;
  void Fail(TimedProgram& program, v1::Outcome outcome,
            const absl::Status& status);

  const TimingContext& context_;
  const QuietPeriod& quiet_;
  std::vector<TimedProgram>& programs_;
  // While they were timed; collecting comes later, and then the rows.
  std::optional<timing::Surroundings> around_;
};

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_GROUP_TIMING_H_
