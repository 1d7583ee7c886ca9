#include "coordinator/service/call_threads.h"

#include <utility>

namespace meshwright::service {

void CallThreads::Run(std::function<void()> call) {
  std::list<Call> over;
  {
    absl::MutexLock lock(&mutex_);
    for (auto it = calls_.begin(); it != calls_.end();) {
      const auto next = std::next(it);
      if (it->over) over.splice(over.end(), calls_, it);
      it = next;
    }
    Call& added = calls_.emplace_back();
    ++running_;
    added.thread = std::thread([this, &added, run = std::move(call)] {
      run();
      absl::MutexLock lock(&mutex_);
      added.over = true;
      --running_;
    });
  }
  for (Call& call : over) call.thread.join();
}

bool CallThreads::AwaitIdle(absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(this, &CallThreads::Idle),
                                 timeout);
}

void CallThreads::Join() {
  std::list<Call> calls;
  {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &CallThreads::Idle));
    calls.swap(calls_);
  }
  for (Call& call : calls) call.thread.join();
}

}  // namespace meshwright::service
