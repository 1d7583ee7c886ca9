// HeldStreams: how many streams a coordinator holds open for its clients.
//
// Concept: a watched plan may take days, and each of its watchers holds a
// connection and its buffers. Beyond the maximum a new stream is refused, and
// those that are open go on. Workers are not counted: their tokens are.
// Ownership: a slot is given back when its last copy goes; it outlives the
// HeldStreams that gave it. Threads: any.
// Errors: kResourceExhausted, one sentence with the way out.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_HELD_STREAMS_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_HELD_STREAMS_H_

#include <atomic>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace meshwright::service {

class HeldStreams {
 public:
  using Slot = std::shared_ptr<const void>;

  explicit HeldStreams(int maximum) : maximum_(maximum) {}

  // A place, held as long as the slot lives. kResourceExhausted where all are
  // taken.
  absl::StatusOr<Slot> Take() {
    if (count_->fetch_add(1) >= maximum_) {
      count_->fetch_sub(1);
      return absl::ResourceExhaustedError(absl::StrCat(
          "this coordinator holds ", maximum_,
          " streams open and no more; ask again when one has ended, or get "
          "the plan now and then"));
    }
    return Slot(count_.get(),
                [count = count_](const void*) { count->fetch_sub(1); });
  }

 private:
  const int maximum_;
  const std::shared_ptr<std::atomic<int>> count_ =
      std::make_shared<std::atomic<int>>(0);
};

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_HELD_STREAMS_H_
