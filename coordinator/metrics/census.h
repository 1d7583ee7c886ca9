// Census: figures of a store that cost reading all of it, taken seldom.
//
// Concept: counting reads every row, which takes seconds where there are a
// million. So whoever asks gets the newest count, and the next one is begun in
// the background when it is due: at the first question, and then kInterval
// after the last count, or a hundred times what that took. So it costs a
// hundredth of a processor at most.
//   Nobody asks: nobody counts.
// Threads and ownership: any thread; `take` is called on a thread of its own,
// and what it reads and the clock outlive the census.
// Errors: a store that cannot be counted is a line of the log, and the count
// before stays the newest.
#ifndef MESHWRIGHT_COORDINATOR_METRICS_CENSUS_H_
#define MESHWRIGHT_COORDINATOR_METRICS_CENSUS_H_

#include <algorithm>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/log/log.h"
#include "base/mutex.h"
#include "base/thread_pool.h"

namespace meshwright::metrics {

template <typename Figures>
class Census {
 public:
  // Ends early, with any answer, once it is told to stop.
  using Take = std::function<absl::StatusOr<Figures>(std::stop_token)>;
  struct Count {
    Figures figures;
    absl::Time when;
  };
  static constexpr absl::Duration kInterval = absl::Minutes(10);

  Census(Take take, const base::Clock* clock)
      : take_(std::move(take)), clock_(clock) {}
  // Tells a count that runs to stop, and waits for it.
  ~Census() { stop_.request_stop(); }

  // Absent: the first count, which the first call begins, has not ended.
  std::optional<Count> Newest() ABSL_LOCKS_EXCLUDED(mutex_) {
    base::MutexLock lock(&mutex_);
    if (!runs_ && clock_->Now() >= due_) Begin();
    return newest_;
  }
  // False: a count still runs after `timeout`.
  bool AwaitIdle(absl::Duration timeout) { return thread_.AwaitIdle(timeout); }

 private:
  static constexpr int kRestToWork = 100;

  void Begin() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    runs_ = true;
    thread_.Post([this] { Run(); });
  }
  void Run() ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::Time began = clock_->Now();
    absl::StatusOr<Figures> counted = take_(stop_.get_token());
    const absl::Time ended = clock_->Now();
    if (!counted.ok()) {
      base::LogWarning("metrics: the store was not counted: ",
                       counted.status().message());
    }
    base::MutexLock lock(&mutex_);
    runs_ = false;
    due_ = ended + std::max(kInterval, kRestToWork * (ended - began));
    if (counted.ok()) newest_ = Count{*std::move(counted), ended};
  }

  const Take take_;
  const base::Clock* const clock_;
  std::stop_source stop_;

  base::Mutex mutex_;
  std::optional<Count> newest_ ABSL_GUARDED_BY(mutex_);
  bool runs_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time due_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();

  base::ThreadPool thread_{1};  // last: joined before the rest goes
};

}  // namespace meshwright::metrics

#endif  // MESHWRIGHT_COORDINATOR_METRICS_CENSUS_H_
