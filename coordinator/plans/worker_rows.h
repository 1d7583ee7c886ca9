// WorkerRows: the workers of a coordinator, as rows that outlive it.
// ReadWorkers: these rows, for the coordinators that follow.
//
// Concept: workers are attached to the coordinator that leads, and nobody else
// knows them. It writes a row for each. Whoever leads next knows by them which
// ones are to come back, and names those that are *missing* so far.
//
//   Begin ─▶ rows of before: missing ── attached ──▶ written, as it changes
//                └── not for kAwaited ──▶ removed      └── gone ──▶ removed
//
// A row that says nothing new is written again after kBetweenSights. Rows that
// were not seen for kForgotten when it begins are of nobody who comes back.
// Threads and ownership: all methods from any; AddMissing waits for no store.
// What the constructor gets outlives it.
// Errors: those of PlanStore. Save tries again later.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_WORKER_ROWS_H_
#define MESHWRIGHT_COORDINATOR_PLANS_WORKER_ROWS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "profiledb/store/plan_store.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::plans {

class WorkerRows {
 public:
  static constexpr absl::Duration kBetweenSaves = absl::Seconds(5);
  static constexpr absl::Duration kBetweenSights = absl::Minutes(1);
  static constexpr absl::Duration kAwaited = absl::Hours(1);
  static constexpr absl::Duration kForgotten = absl::Hours(24);

  // `clock`: of what is written; `steady`: of pauses.
  WorkerRows(store::PlanStore* plans, const base::Clock* clock,
             const base::Clock* steady)
      : plans_(plans), clock_(clock), steady_(steady) {}

  // This coordinator leads from here on, in an epoch that was begun.
  absl::Status Begin(store::Epoch epoch) ABSL_LOCKS_EXCLUDED(writing_, mutex_);
  // Another one does.
  void End() ABSL_LOCKS_EXCLUDED(writing_, mutex_);
  // Whether it leads, and the last Save is a while ago.
  bool IsDue() const ABSL_LOCKS_EXCLUDED(writing_);
  // Writes what is new of the attached ones, if it leads.
  absl::Status Save(const std::vector<v1::WorkerSummary>& attached)
      ABSL_LOCKS_EXCLUDED(writing_, mutex_);

  // The attached ones, then those that are missing.
  std::vector<v1::WorkerSummary> AddMissing(
      std::vector<v1::WorkerSummary> attached) const
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Rows = std::map<std::string, store::WorkerRow>;  // by name

  store::WorkerChanges FindChanges(
      const std::vector<v1::WorkerSummary>& attached)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_) ABSL_LOCKS_EXCLUDED(mutex_);

  store::PlanStore* const plans_;
  const base::Clock* const clock_;
  const base::Clock* const steady_;

  mutable base::Mutex writing_;  // held while the store is asked
  bool leads_ ABSL_GUARDED_BY(writing_) = false;
  store::Epoch epoch_ ABSL_GUARDED_BY(writing_);
  absl::Time began_ ABSL_GUARDED_BY(writing_);  // of the steady clock
  absl::Time next_ ABSL_GUARDED_BY(writing_);   // of the steady clock
  Rows written_ ABSL_GUARDED_BY(writing_);      // as the store has them

  mutable base::Mutex mutex_;
  Rows missing_ ABSL_GUARDED_BY(mutex_);  // of those written
};

// As the leader wrote them, for a coordinator that follows: it knows no state.
// `leader`: its address; empty: none leads.
absl::StatusOr<std::vector<v1::WorkerSummary>> ReadWorkers(
    store::PlanStore& plans, absl::Time now, const std::string& leader);

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_WORKER_ROWS_H_
