// LoadWatch: how much of the processors other processes use.
//
// Concept: the busy time of the processors that this process may run on, from
// /proc/stat. Its own CPU time and that of the processes it names (the idle
// spinner) are subtracted. The rest is others' use: a build, another training
// run, another virtual machine (steal). Where a quota is spent and the kernel
// takes the processors away, that counts as others' use too.
// Units: shares of those processors' time, 0 to 1, good to a few percent over
// 100 ms and more. (The kernel counts in steps of 10 ms a processor; over n of
// them the errors add up to the root of n.)
// Threads: one. Errors: none; where the kernel does not say, the share is 0.
#ifndef MESHWRIGHT_WORKER_DEVICES_LOAD_WATCH_H_
#define MESHWRIGHT_WORKER_DEVICES_LOAD_WATCH_H_

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "worker/devices/machine.h"

namespace meshwright::worker::devices {

class LoadWatch {
 public:
  struct Reading {
    absl::Time time;      // of base::SteadyClock
    absl::Duration busy;  // of all these processors
    absl::Duration own;   // of this process and `helpers`
    absl::Duration throttled;
  };

  // `helpers`: processes that work for this one. `root`: of /proc and /sys.
  // `processors`: in ascending order.
  explicit LoadWatch(std::vector<pid_t> helpers = {},
                     std::filesystem::path root = "/",
                     std::vector<int> processors = FindOwnProcessors());
  virtual ~LoadWatch() = default;

  int processors() const { return static_cast<int>(processors_.size()); }

  // nullopt where the kernel does not say.
  virtual std::optional<Reading> Read() const;
  // Between two readings.
  double MeasureOtherShare(const Reading& from, const Reading& to) const;

  // Starts a period, and what others used since.
  void Begin() { begin_ = Read(); }
  // From Begin until now.
  double MeasureOtherShare() const;

  // Waits, while this process does nothing, until others use at most `share`
  // over 100 ms; what they used last. Gives up after `limit`. `on_wait` is
  // called once if it has to wait.
  double WaitForCalm(double share, absl::Duration limit,
                     const std::function<void(double)>& on_wait) const;

 private:
  const std::vector<pid_t> helpers_;
  const std::filesystem::path root_;
  const std::vector<int> processors_;
  std::optional<Reading> begin_;
};

// What is busy and not `own`, between two readings, of so many processors.
double MeasureShareOfOthers(const LoadWatch::Reading& from,
                            const LoadWatch::Reading& to, int processors);

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_LOAD_WATCH_H_
