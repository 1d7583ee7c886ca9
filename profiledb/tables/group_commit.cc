#include "profiledb/tables/group_commit.h"

#include <algorithm>
#include <vector>

#include "base/failpoint.h"
#include "base/mutex.h"
#include "profiledb/store/away.h"

namespace meshwright::tables {

void GroupCommit::Commit(std::vector<Waiter*> group) const {
  while (!group.empty()) {
    Waiter* failed = nullptr;
    const absl::Status status = transact_([&]() -> absl::Status {
      for (Waiter* waiter : group) {
        absl::Status done = (*waiter->work)();
        if (done.ok()) continue;
        failed = waiter;
        return done;
      }
      base::Failpoint("commit.open");
      return {};
    });
    base::Failpoint("commit.done");
    if (failed == nullptr || store::IsAway(status)) {
      for (Waiter* waiter : group) waiter->status = status;
      return;
    }
    failed->status = status;
    group.erase(std::find(group.begin(), group.end(), failed));
  }
}

absl::Status GroupCommit::Write(const Work& work) {
  Waiter self{.work = &work};
  std::vector<Waiter*> group;
  {
    const auto may_go = [this, &self]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return self.is_done || queue_.front() == &self;
    };
    const base::MutexLock lock(&mutex_);
    queue_.push_back(&self);
    mutex_.Await(absl::Condition(&may_go));
    if (self.is_done) return self.status;
    group.assign(queue_.begin(), queue_.end());
  }
  Commit(group);
  const base::MutexLock lock(&mutex_);
  for (Waiter* waiter : group) {
    waiter->is_done = true;
    queue_.pop_front();
  }
  return self.status;
}

}  // namespace meshwright::tables
