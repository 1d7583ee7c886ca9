// The share of a device's memory that a plan may use.
//
// Concept: a plan's peak is made of what its segments need (peak_timeline.h).
// The compiler schedules the whole step: it computes some values earlier, and
// so holds them longer, than the segments show. Whole steps needed up to 7 %
// more than was predicted, and a plan that fits must fit. So a share of the
// memory stays free.
// Units: bytes of one device. Threads: pure functions.
#ifndef MESHWRIGHT_COORDINATOR_PROBLEM_MEMORY_LIMIT_H_
#define MESHWRIGHT_COORDINATOR_PROBLEM_MEMORY_LIMIT_H_

#include <cstdint>
#include <optional>

namespace meshwright::formulation {

inline constexpr int kMemoryHeadroomPercent = 10;

// None for 0, which is no limit.
inline std::optional<int64_t> FindUsableBytes(int64_t device_memory_bytes) {
  if (device_memory_bytes <= 0) return std::nullopt;
  const int64_t percent = 100 - kMemoryHeadroomPercent;
  return device_memory_bytes / 100 * percent +
         device_memory_bytes % 100 * percent / 100;
}

// The smallest device memory in which a predicted peak may be used.
inline int64_t FindDeviceMemoryBytes(int64_t peak_bytes) {
  const int64_t percent = 100 - kMemoryHeadroomPercent;
  return peak_bytes / percent * 100 +
         (peak_bytes % percent * 100 + percent - 1) / percent;
}

}  // namespace meshwright::formulation

#endif  // MESHWRIGHT_COORDINATOR_PROBLEM_MEMORY_LIMIT_H_
