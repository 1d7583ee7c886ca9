// QuietPeriod: the devices and the machine to oneself while something is timed.
//
// Concept: takes the timing lock of the device group and waits a while for a
// busy machine to calm down. It keeps the processors awake, and watches what
// others use until it ends. Where it does not get what it waits for, it goes on
// and says so: its rows are noisy.
// Ownership: borrows all it is given. Threads: one.
#ifndef MESHWRIGHT_WORKER_RUNNER_QUIET_PERIOD_H_
#define MESHWRIGHT_WORKER_RUNNER_QUIET_PERIOD_H_

#include "absl/time/time.h"
#include "worker/devices/idle_spinner.h"
#include "worker/devices/load_watch.h"
#include "worker/devices/timing_lock.h"
#include "worker/sandbox/event_stream.h"

namespace meshwright::worker::runner {

// The parts of a quiet period; null: there is none.
struct QuietMachine {
  devices::TimingLock* lock = nullptr;
  devices::LoadWatch* load = nullptr;
  devices::IdleSpinner* cores = nullptr;
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

  // The share of the processors that others used since it began; 1 where
  // another process times on the same devices.
  double OtherLoad() const;

 private:
  const QuietMachine& machine_;
  bool alone_ = true;
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
