#include "worker/service/idle_watch.h"

namespace meshwright::worker {

bool IdleWatch::Look(absl::Time now, bool is_used) {
  if (last_.has_value() && now - *last_ > rules_.longest_gap) since_.reset();
  last_ = now;
  if (is_used != serves_) {
    since_.reset();
    return serves_;
  }
  if (!since_.has_value()) since_ = now;
  if (now - *since_ >= (serves_ ? rules_.busy_for : rules_.idle_for)) {
    serves_ = !serves_;
    since_.reset();
  }
  return serves_;
}

}  // namespace meshwright::worker
