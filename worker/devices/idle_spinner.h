// IdleSpinner: keeps processors awake between the runs that are timed.
//
// Concept: a processor without work halts, and a run of a few milliseconds pays
// for waking it. A training step, which keeps it busy, does not. While
// spinning, a thread of the idle scheduling class spins on every processor that
// the runner may use. It yields at once to any other thread. The threads are a
// process of their own, because slow samples are found by the runner's CPU time
// (worker/timing/sample_set.h). The process is stopped while it pauses, and
// dies with the runner.
//   Start gives none in a container with a CPU quota, which would be throttled,
// and where the idle class is refused.
// Ownership: the destructor kills and reaps the process.
// Threads: one, which must live as long.
// Source: measured, docs/decisions/measuring.md.
#ifndef MESHWRIGHT_WORKER_DEVICES_IDLE_SPINNER_H_
#define MESHWRIGHT_WORKER_DEVICES_IDLE_SPINNER_H_

#include <sys/types.h>

#include <memory>
#include <string>

namespace meshwright::worker::devices {

// The flag with which the runner becomes that process.
inline constexpr char kIdleSpinnerFlag[] = "--idle-spinner";

class IdleSpinner {
 public:
  // Asleep at first; null where there is none. `program`: the runner.
  static std::unique_ptr<IdleSpinner> Start(
      const std::string& program = "/proc/self/exe");
  ~IdleSpinner();
  IdleSpinner(const IdleSpinner&) = delete;
  IdleSpinner& operator=(const IdleSpinner&) = delete;

  int count() const { return count_; }
  pid_t pid() const { return pid_; }
  // Returns at once; Pause ends it.
  void Spin();
  void Pause();

 private:
  IdleSpinner(pid_t pid, int count) : pid_(pid), count_(count) {}

  const pid_t pid_;
  const int count_;
};

// Keeps cores awake as long as it lives; of null, nothing.
class ScopedSpin {
 public:
  explicit ScopedSpin(IdleSpinner* cores) : cores_(cores) {
    if (cores_ != nullptr) cores_->Spin();
  }
  ~ScopedSpin() {
    if (cores_ != nullptr) cores_->Pause();
  }
  ScopedSpin(const ScopedSpin&) = delete;
  ScopedSpin& operator=(const ScopedSpin&) = delete;

 private:
  IdleSpinner* const cores_;
};

// The work of that process, for `parent`: it stops itself, and spins when it is
// continued. Returns only where a core of the list ("0,1") cannot be had.
int SpinOnCores(const std::string& cores, pid_t parent);

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_IDLE_SPINNER_H_
