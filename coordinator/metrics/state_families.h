// StateFamilies: what there is now, asked when Prometheus reads.
//
// Concept: plans by state come from the store of plans, programs from the
// queue, workers and the longest wait from the runner. The newest census gives
// the figures of the store of profiles. A store that does not answer is a
// figure, too; the figures from it are left out (store_wait.h says how long it
// has).
// Threads: one reads. Ownership: what Sources points to outlives it.
// Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_METRICS_STATE_FAMILIES_H_
#define MESHWRIGHT_COORDINATOR_METRICS_STATE_FAMILIES_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/metrics/store_census.h"
#include "coordinator/metrics/store_wait.h"
#include "profiledb/store/plan_store.h"

namespace prometheus {
class Collectable;
}  // namespace prometheus

namespace meshwright::metrics {

struct StateSources {
  const jobs::JobQueue* queue = nullptr;
  store::PlanStore* plans = nullptr;
  StoreCensus* census = nullptr;  // null: there is no store of profiles
  // The attached ones, and those that are to come back.
  std::function<std::vector<v1::WorkerSummary>()> workers = {};
  // Of the plans that wait for devices; empty: none does.
  std::function<absl::Duration()> longest_wait = {};
  // That a store of plans has to answer.
  absl::Duration store_patience = StoreWait::kPatience;
};

std::shared_ptr<prometheus::Collectable> NewStateFamilies(
    const StateSources& sources);

}  // namespace meshwright::metrics

#endif  // MESHWRIGHT_COORDINATOR_METRICS_STATE_FAMILIES_H_
