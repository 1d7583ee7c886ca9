// Slices of a plan from files or from a seed, and to files.
//
// Concept: a sender's slice is the file DIR/ID, ID being the task's. Without a
// folder it is made from a seed, the same on every machine, for measuring and
// for tests. A received slice is written to DIR/ID under another name first.
// Errors: kInvalidArgument for an id that names no file, those of base/file.h.
#ifndef MESHWRIGHT_WORKER_COMM_EXECUTOR_SLICES_H_
#define MESHWRIGHT_WORKER_COMM_EXECUTOR_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/comm/protocol/plan.h"

namespace meshwright::worker::comm {

absl::StatusOr<std::vector<std::byte>> ReadSlice(const std::string& folder,
                                                 const Task& task);

absl::Status WriteSlice(const std::string& folder, const Task& task,
                        std::span<const std::byte> bytes);

// Random bytes of `seed` and the task's id.
absl::StatusOr<std::vector<std::byte>> MakeSlice(uint64_t seed,
                                                 const Task& task);

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_EXECUTOR_SLICES_H_
