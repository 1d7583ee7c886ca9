// CallSlots: how many calls of a kind, or bytes of them, a coordinator has at
// once.
//
// Concept: a watched plan may take days, and each of its watchers holds a
// connection and its buffers. A validation holds a thread for as long as its
// programs run, and enough of them would leave none for a look-up. Beyond the
// maximum of its kind a new call is refused, and those at hand go on. A caller
// with a name has a share of its own, so that one cannot take the places of
// all. Workers are not counted: their tokens are.
// Ownership: a slot is given back when its last copy goes; it outlives the
// CallSlots that gave it. Threads: any.
// Errors: kResourceExhausted, one sentence with the way out.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_CALL_SLOTS_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_CALL_SLOTS_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/mutex.h"

namespace meshwright::service {

class CallSlots {
 public:
  using Slot = std::shared_ptr<const void>;

  // `refusal` goes on after "this coordinator holds 32 ". `share`: of a caller
  // with a name.
  CallSlots(int maximum, const char* refusal, int share)
      : maximum_(maximum), refusal_(refusal), share_(share) {}

  // Places, held as long as the slot lives. `caller`: whose share they are of;
  // empty: of nobody's. kResourceExhausted where not as many are left.
  absl::StatusOr<Slot> Take(const std::string& caller = "", int places = 1) {
    base::MutexLock lock(&taken_->mutex);
    if (places > maximum_ - taken_->all) {
      return Refuse("this coordinator", maximum_);
    }
    if (!caller.empty()) {
      const auto own = taken_->of.find(caller);
      const int held = own == taken_->of.end() ? 0 : own->second;
      if (places > share_ - held) return Refuse(caller, share_);
      taken_->of[caller] = held + places;
    }
    taken_->all += places;
    return Slot(taken_.get(), [taken = taken_, caller, places](const void*) {
      taken->GiveBack(caller, places);
    });
  }

 private:
  struct Taken {
    void GiveBack(const std::string& caller, int places)
        ABSL_LOCKS_EXCLUDED(mutex) {
      base::MutexLock lock(&mutex);
      all -= places;
      const auto own = of.find(caller);
      if (own == of.end()) return;
      own->second -= places;
      if (own->second == 0) of.erase(own);
    }

    base::Mutex mutex;
    int all ABSL_GUARDED_BY(mutex) = 0;
    absl::flat_hash_map<std::string, int> of ABSL_GUARDED_BY(mutex);
  };

  absl::Status Refuse(const std::string& who, int maximum) const {
    return absl::ResourceExhaustedError(
        absl::StrCat(who, " holds ", maximum, " ", refusal_));
  }

  const int maximum_;
  const char* const refusal_;
  const int share_;
  const std::shared_ptr<Taken> taken_ = std::make_shared<Taken>();
};

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_CALL_SLOTS_H_
