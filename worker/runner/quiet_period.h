// QuietPeriod: the devices and the machine to oneself while something is timed.
//
// Concept: takes the timing locks of the devices and waits a while for a busy
// machine to calm down. All members of a gang have their locks, or none has:
// one that holds its own while it waits for a peer waits in a circle with the
// members of another coordinator's gang. It keeps the processors awake, and
// watches what others use and what heat does until it ends. Where it does not
// get what it waits for, it goes on and says so: its rows are noisy.
// Ownership: borrows all it is given. Threads: one.
#ifndef MESHWRIGHT_WORKER_RUNNER_QUIET_PERIOD_H_
#define MESHWRIGHT_WORKER_RUNNER_QUIET_PERIOD_H_

#include "absl/time/time.h"
#include "worker/devices/heat_counter.h"
#include "worker/devices/idle_spinner.h"
#include "worker/devices/load_watch.h"
#include "worker/devices/sensors.h"
#include "worker/devices/timing_lock.h"
#include "worker/sandbox/event_stream.h"
#include "worker/timing/quality.h"

namespace meshwright::worker::runner {

class GangLine;

// The parts of a quiet period; null: there is none.
struct QuietMachine {
  devices::TimingLock* lock = nullptr;
  GangLine* gang = nullptr;  // whose other members have locks of their own
  devices::LoadWatch* load = nullptr;
  double busy_share = timing::kBusyShare;  // that others may have of it
  devices::IdleSpinner* cores = nullptr;
  const devices::HeatCounter* heat = nullptr;  // of the processors
  const devices::Sensors* sensors = nullptr;   // of accelerators
  // Another plan's whole group may be timed meanwhile.
  absl::Duration lock_limit = absl::Minutes(15);
  absl::Duration calm_limit = absl::Seconds(5);
};

// How long the groups of a batch wait for a calm machine: the limit each, half
// of it after every wait in vain. A machine that stays busy costs a batch twice
// the limit, however many groups it has.
class Patience {
 public:
  explicit Patience(absl::Duration limit) : limit_(limit), left_(limit) {}

  absl::Duration left() const { return left_; }
  void NoteWait(bool is_calm) { left_ = is_calm ? limit_ : left_ / 2; }

 private:
  const absl::Duration limit_;
  absl::Duration left_;
};

class QuietPeriod {
 public:
  QuietPeriod(const QuietMachine& machine, Patience& patience,
              sandbox::EventWriter& events);
  ~QuietPeriod();
  QuietPeriod(const QuietPeriod&) = delete;
  QuietPeriod& operator=(const QuietPeriod&) = delete;

  // Timing begins here: what others did meanwhile counts from now on, and not
  // from when the inputs were made.
  void Begin();
  // What others used since then; all, where another process times on the same
  // devices. Throttled is what was so then or is now.
  timing::Surroundings LookAround() const;

 private:
  // Whether no other process times on the devices.
  bool TakeLock(sandbox::EventWriter& events);
  bool TakeLocksOfGang(sandbox::EventWriter& events);
  // Whether others now use no more than they may.
  bool AwaitProcessors(absl::Duration limit, sandbox::EventWriter& events);
  bool AwaitDevices(absl::Duration limit, sandbox::EventWriter& events);

  const QuietMachine& machine_;
  bool alone_ = true;
  absl::Time begin_;                // of the wall clock, which NVML goes by
  double device_share_before_ = 0;  // of the devices, that others used
  int64_t heat_at_begin_ = 0;
  bool throttled_at_begin_ = false;
};

// Compiling: beside others that compile, not beside one that times.
class CompilePeriod {
 public:
  CompilePeriod(const QuietMachine& machine, sandbox::EventWriter& events);
  ~CompilePeriod();
  CompilePeriod(const CompilePeriod&) = delete;
  CompilePeriod& operator=(const CompilePeriod&) = delete;

 private:
  const QuietMachine& machine_;
};

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_QUIET_PERIOD_H_
