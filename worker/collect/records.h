// KernelRecord: one piece of work that a device did, by the device's clock.
//
// Units: nanoseconds since the epoch, as the host's realtime clock counts them;
// the collectors bring the device's clock to it, to some microseconds.
#ifndef MESHWRIGHT_WORKER_COLLECT_RECORDS_H_
#define MESHWRIGHT_WORKER_COLLECT_RECORDS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace meshwright::worker::collect {

struct KernelRecord {
  enum class Kind { kKernel, kCopy };  // a copy moves or sets memory
  Kind kind = Kind::kKernel;
  std::string name;       // the kernel's, or what kind of copy it is
  std::string operation;  // the HLO instruction that it is part of; empty: the
                          // collector does not know
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t stream = 0;
  int64_t device = 0;  // of those of the process, by the collector's numbers
};

struct Collection {
  std::vector<KernelRecord> records;  // of all devices, in no order
  int64_t dropped = 0;                // records that the collector lost
};

}  // namespace meshwright::worker::collect

#endif  // MESHWRIGHT_WORKER_COLLECT_RECORDS_H_
