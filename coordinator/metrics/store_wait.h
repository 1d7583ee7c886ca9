// StoreWait: asks a store that may not answer, and waits for so long only.
//
// Concept: a database whose host is gone answers nothing for a while, and
// figures that need no store are wanted then, too. So a thread of its own asks
// the store. An answer that comes too late is dropped, and until it has come
// no other question is taken.
// Threads and ownership: one thread asks. What a question reads outlives this;
// the destructor waits until the store has answered.
// Errors: those of the question; kUnavailable for no answer in time.
#ifndef MESHWRIGHT_COORDINATOR_METRICS_STORE_WAIT_H_
#define MESHWRIGHT_COORDINATOR_METRICS_STORE_WAIT_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "base/thread_pool.h"

namespace meshwright::metrics {

class StoreWait {
 public:
  // Well below the ten seconds that Prometheus waits for an answer.
  static constexpr absl::Duration kPatience = absl::Seconds(3);

  explicit StoreWait(absl::Duration patience) : patience_(patience) {}

  template <typename Answer>
  absl::StatusOr<Answer> Ask(std::function<absl::StatusOr<Answer>()> question) {
    const auto slot = std::make_shared<Slot<Answer>>();
    if (thread_.AwaitIdle(absl::ZeroDuration())) {
      thread_.Post([slot, question = std::move(question)] {
        absl::StatusOr<Answer> answer = question();
        base::MutexLock lock(&slot->mutex);
        slot->answer = std::move(answer);
      });
      thread_.AwaitIdle(patience_);
    }
    base::MutexLock lock(&slot->mutex);
    return std::move(slot->answer);
  }
  // False: the store has not answered after `timeout`.
  bool AwaitIdle(absl::Duration timeout) { return thread_.AwaitIdle(timeout); }

 private:
  // Outlives a question that nobody waits for any more.
  template <typename Answer>
  struct Slot {
    base::Mutex mutex;
    absl::StatusOr<Answer> answer ABSL_GUARDED_BY(mutex) =
        absl::UnavailableError(
            "the store does not answer; look at the database and its host");
  };

  const absl::Duration patience_;
  base::ThreadPool thread_{1};
};

}  // namespace meshwright::metrics

#endif  // MESHWRIGHT_COORDINATOR_METRICS_STORE_WAIT_H_
