// PlanFeed: wakes those that watch a plan when the store has news of it.
//
// Concept: the news themselves stand in the store (plan_store.h); a watcher
// reads there what it has not seen. So nothing is lost or said twice, however
// slow the watcher is.
// Threads: all methods from any thread. A listener is called with the feed's
// lock held: it returns at once and does not call the feed.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_PLAN_FEED_H_
#define MESHWRIGHT_COORDINATOR_PLANS_PLAN_FEED_H_

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "base/strong_id.h"
#include "profiledb/store/plan_store.h"

namespace meshwright::plans {

using SubscriptionId = base::StrongId<struct SubscriptionTag>;

class PlanFeed {
 public:
  using Listener = std::function<void()>;

  // Calls `listener` after every update of the plan, until Unsubscribe. A plan
  // that does not exist has no updates.
  SubscriptionId Subscribe(store::PlanId plan, Listener listener) {
    base::MutexLock lock(&mutex_);
    const SubscriptionId id{++last_};
    listeners_.emplace(std::pair(plan, id), std::move(listener));
    return id;
  }

  // The listener is not called again once this returns.
  void Unsubscribe(store::PlanId plan, SubscriptionId id) {
    base::MutexLock lock(&mutex_);
    listeners_.erase({plan, id});
  }

  // The store has an update of the plan: wakes its listeners.
  void Notify(store::PlanId plan) {
    base::MutexLock lock(&mutex_);
    for (auto it = listeners_.lower_bound({plan, SubscriptionId()});
         it != listeners_.end() && it->first.first == plan; ++it) {
      it->second();
    }
  }

  // All of them look again, whether there is news or not.
  void NotifyAll() {
    base::MutexLock lock(&mutex_);
    for (const auto& [key, listener] : listeners_) listener();
  }

 private:
  base::Mutex mutex_;
  int64_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::pair<store::PlanId, SubscriptionId>, Listener> listeners_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_PLAN_FEED_H_
