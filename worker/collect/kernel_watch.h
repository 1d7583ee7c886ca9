// KernelWatch: a few runs of a program under every collector of the machine.
//
// Concept: each collector watches one run that is not looked at and a few that
// are; collectors take turns, never at once. One that fails says so in the row
// at hand and is left out from then on. Members of a gang keep step: as many
// runs are made all the same, because the others make them, too.
// Threads: one.
// Errors: of Watch: those of running the program. A collector's failure is
// a fault of the times it gives.
#ifndef MESHWRIGHT_WORKER_COLLECT_KERNEL_WATCH_H_
#define MESHWRIGHT_WORKER_COLLECT_KERNEL_WATCH_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/v1/profile.pb.h"
#include "worker/collect/collector.h"

namespace meshwright::worker::collect {

class KernelWatch {
 public:
  explicit KernelWatch(std::vector<std::unique_ptr<KernelCollector>> collectors,
                       bool keeps_step = false)
      : collectors_(std::move(collectors)), keeps_step_(keeps_step) {}

  bool is_empty() const { return collectors_.empty(); }
  // `run(i)` is the program's run i, and returns when its devices are done.
  // `collectives`: as in SumKernels. Adds `kernel_times`. Errors: see above.
  absl::Status Watch(const std::function<absl::Status(int)>& run,
                     const std::set<std::string>& collectives,
                     v1::Measurement& measurement);

 private:
  // Null: it failed, and step is kept.
  std::vector<std::unique_ptr<KernelCollector>> collectors_;
  const bool keeps_step_;
};

}  // namespace meshwright::worker::collect

#endif  // MESHWRIGHT_WORKER_COLLECT_KERNEL_WATCH_H_
