// Memory for what a host receives. It is asked for as a whole, before anything
// starts. A plan too large for the host is then one clear sentence.
//
// Errors: kResourceExhausted, with the task at which it does not fit.
#ifndef MESHWRIGHT_WORKER_COMM_EXECUTOR_MEMORY_H_
#define MESHWRIGHT_WORKER_COMM_EXECUTOR_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::worker::comm {

// That `bytes`, up to and with `task`, are no more than this host's memory.
absl::Status CheckFits(int64_t bytes, const std::string& task);

// Zeroed, so that its pages are there before the clock runs.
absl::StatusOr<std::vector<std::byte>> Allocate(int64_t bytes,
                                                const std::string& task);

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_EXECUTOR_MEMORY_H_
