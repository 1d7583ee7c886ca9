// Slices of a plan from files or from a seed, and to files.
//
// Concept: a sender's slice is the file DIR/ID, ID being the task's. Without a
// folder it is made from a seed, the same on every machine, for measuring and
// for tests. Received slices are written to a folder within DIR first. They get
// their names once all of them are there, so that a full disk leaves DIR as it
// was. A device or a pipe that stands at DIR/ID is written to as it is.
// Errors: kInvalidArgument for an id that names no file or a folder, kAborted
// for slices that do not fit the disk, those of base/file.h.
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

// Whether these tasks can be files in `folder`. Known before one is received.
absl::Status CheckSliceFiles(const std::string& folder, const Plan& plan,
                             std::span<const int> tasks);

// The slices of `tasks`; `slices` goes by all tasks of the plan.
absl::Status WriteSlices(const std::string& folder, const Plan& plan,
                         std::span<const int> tasks,
                         std::span<const std::vector<std::byte>> slices);

// Random bytes of `seed` and the task's id.
absl::StatusOr<std::vector<std::byte>> MakeSlice(uint64_t seed,
                                                 const Task& task);

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_EXECUTOR_SLICES_H_
