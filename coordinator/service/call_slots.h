// CallSlots: how many calls of a kind a coordinator has at once.
//
// Concept: a watched plan may take days, and each of its watchers holds a
// connection and its buffers. A validation holds a thread for as long as its
// programs run, and enough of them would leave none for a look-up. Beyond the
// maximum of its kind a new call is refused, and those at hand go on. Workers
// are not counted: their tokens are.
// Ownership: a slot is given back when its last copy goes; it outlives the
// CallSlots that gave it. Threads: any.
// Errors: kResourceExhausted, one sentence with the way out.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_CALL_SLOTS_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_CALL_SLOTS_H_

#include <atomic>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace meshwright::service {

class CallSlots {
 public:
  using Slot = std::shared_ptr<const void>;

  // `refusal` goes on after "this coordinator holds 32 ".
  CallSlots(int maximum, const char* refusal)
      : maximum_(maximum), refusal_(refusal) {}

  // A place, held as long as the slot lives. kResourceExhausted where all are
  // taken.
  absl::StatusOr<Slot> Take() {
    if (count_->fetch_add(1) >= maximum_) {
      count_->fetch_sub(1);
      return absl::ResourceExhaustedError(
          absl::StrCat("this coordinator holds ", maximum_, " ", refusal_));
    }
    return Slot(count_.get(),
                [count = count_](const void*) { count->fetch_sub(1); });
  }

 private:
  const int maximum_;
  const char* const refusal_;
  const std::shared_ptr<std::atomic<int>> count_ =
      std::make_shared<std::atomic<int>>(0);
};

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_CALL_SLOTS_H_
