// AwakeCores: processors that do not fall asleep between the runs that are
// timed.
//
// Concept: a processor without work halts, and a run of a few milliseconds
// whose threads start on halted processors pays for waking each of them,
// again whenever they wait for one another; a training step, which keeps them
// busy, does not. While awake, a thread of the idle scheduling class turns in
// place on every processor of this process: it yields at once to any other
// thread. Its CPU time is no work, so WorkTime leaves it out.
//
// A container that may use less time than its processors have would be
// throttled by such threads: `count` is then 0 and nothing is kept awake.
// Threads: KeepAwake and LetSleep from one; WorkTime from any.
// Source: measured, docs/decisions/keeping-cores-awake.md.
#ifndef MESHWRIGHT_WORKER_TIMING_AWAKE_CORES_H_
#define MESHWRIGHT_WORKER_TIMING_AWAKE_CORES_H_

#include <atomic>
#include <thread>
#include <vector>

#include "absl/time/time.h"

namespace meshwright::worker::timing {

// The processors that may be kept awake: those this process may run on, none
// where it may not use all of their time or the idle class is refused.
std::vector<int> CoresToKeepAwake();

class AwakeCores {
 public:
  explicit AwakeCores(const std::vector<int>& cores);
  ~AwakeCores();
  AwakeCores(const AwakeCores&) = delete;
  AwakeCores& operator=(const AwakeCores&) = delete;

  int count() const { return static_cast<int>(threads_.size()); }
  void KeepAwake() { Set(kAwake); }
  void LetSleep() { Set(kAsleep); }

  // CPU time of this process but for the threads that keep cores awake.
  absl::Duration WorkTime() const;

 private:
  enum Wanted { kAsleep, kAwake, kGone };
  void Set(Wanted wanted);
  void Turn(int core);

  std::atomic<Wanted> wanted_ = kAsleep;
  std::vector<std::thread> threads_;
  std::vector<clockid_t> clocks_;  // of the threads
};

// Keeps cores awake as long as it lives.
class StayAwake {
 public:
  explicit StayAwake(AwakeCores& cores) : cores_(cores) { cores.KeepAwake(); }
  ~StayAwake() { cores_.LetSleep(); }
  StayAwake(const StayAwake&) = delete;
  StayAwake& operator=(const StayAwake&) = delete;

 private:
  AwakeCores& cores_;
};

}  // namespace meshwright::worker::timing

#endif  // MESHWRIGHT_WORKER_TIMING_AWAKE_CORES_H_
