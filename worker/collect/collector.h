// KernelCollector: what tells which kernels the devices ran, and when.
//
// Concept: collecting slows the runs that it watches, and a session may lose
// its first records. So programs are timed with collection off, and a few more
// runs are collected after one that is not looked at. Two collectors see the
// same CUPTI and are never on at once:
//
//   plugin  the profiler extension of a PJRT plugin: kernels with their HLO
//           instruction, stream by stream
//   CUPTI   its activity records: kernels and copies, no HLO instruction
//
// Start and Stop alternate. Stop waits for nothing: the caller has awaited the
// runs.
// Threads: one at a time, and one collector at a time in a process.
// Errors: of Start and Stop: one sentence from the library, with its code where
// it has one; kFailedPrecondition for a library that is not there or refuses.
#ifndef MESHWRIGHT_WORKER_COLLECT_COLLECTOR_H_
#define MESHWRIGHT_WORKER_COLLECT_COLLECTOR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/collect/records.h"

namespace meshwright::worker::collect {

class KernelCollector {
 public:
  virtual ~KernelCollector() = default;
  virtual std::string name() const = 0;
  virtual absl::Status Start() = 0;
  virtual absl::StatusOr<Collection> Stop() = 0;
};

}  // namespace meshwright::worker::collect

#endif  // MESHWRIGHT_WORKER_COLLECT_COLLECTOR_H_
