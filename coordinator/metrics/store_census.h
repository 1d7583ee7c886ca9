// StoreCensus: how much a store holds, counted seldom.
//
// Concept: counting reads every row, which takes seconds where there are a
// million. So whoever asks gets the newest count, and the next one is begun in
// the background when it is due. That is kInterval after the last one, and a
// hundred times what that took, so it costs a hundredth of a processor.
//   Nobody asks: nobody counts.
// Threads and ownership: any thread; the pointers outlive it.
// Errors: a store that cannot be counted is a line of the log, and the count
// before stays the newest.
#ifndef MESHWRIGHT_COORDINATOR_METRICS_STORE_CENSUS_H_
#define MESHWRIGHT_COORDINATOR_METRICS_STORE_CENSUS_H_

#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread_pool.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::metrics {

class StoreCensus {
 public:
  struct Count {
    store::Statistics statistics;
    absl::Time when;
  };
  static constexpr absl::Duration kInterval = absl::Minutes(10);

  // Begins the first count.
  StoreCensus(store::ProfileStore* store, const base::Clock* clock);
  // Waits for a count that runs.
  ~StoreCensus() = default;

  // Absent: the first count has not ended.
  std::optional<Count> Newest() ABSL_LOCKS_EXCLUDED(mutex_);
  // False: a count still runs after `timeout`.
  bool AwaitIdle(absl::Duration timeout) { return thread_.AwaitIdle(timeout); }

 private:
  void Begin() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  store::ProfileStore* const store_;
  const base::Clock* const clock_;

  base::Mutex mutex_;
  std::optional<Count> newest_ ABSL_GUARDED_BY(mutex_);
  bool runs_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time due_ ABSL_GUARDED_BY(mutex_);

  base::ThreadPool thread_{1};  // last: joined before the rest goes
};

}  // namespace meshwright::metrics

#endif  // MESHWRIGHT_COORDINATOR_METRICS_STORE_CENSUS_H_
