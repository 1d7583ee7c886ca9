#include "profiledb/tables/group_commit.h"

#include <vector>

#include "base/failpoint.h"
#include "base/mutex.h"
#include "base/status_macros.h"

namespace meshwright::tables {

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
  absl::Status status = transact_([&group]() -> absl::Status {
    for (const Waiter* waiter : group) RETURN_IF_ERROR((*waiter->work)());
    base::Failpoint("commit.open");
    return {};
  });
  base::Failpoint("commit.done");
  const base::MutexLock lock(&mutex_);
  for (Waiter* waiter : group) {
    waiter->status = status;
    waiter->is_done = true;
    queue_.pop_front();
  }
  return status;
}

}  // namespace meshwright::tables
