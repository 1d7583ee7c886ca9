// Api: the figures of a coordinator as JSON, for the dashboard's page.
//
// Concept: each path reads what an RPC hands out, and asks the guard as that
// RPC does: the same tokens, the same roles, the same view of other teams'
// plans.
//
//   /api/service                      this coordinator and the caller
//   /api/plans?states=&page=&size=    Plans.List
//   /api/plans/ID                     Plans.Get
//   /api/tasks                        Planning.ListJobs
//   /api/workers                      Planning.ListWorkers
//   /api/store, /api/quality          counts, as Profiles.Coverage has them
//
// Threads: one. Ownership: what Sources points to outlives it.
// Errors: those of Guard::Admit; kNotFound for another path or an unknown plan,
// kInvalidArgument for a query that is none, kUnavailable for what the leader
// alone knows and for a store of plans that says nothing, those of the store.
#ifndef MESHWRIGHT_COORDINATOR_DASHBOARD_API_H_
#define MESHWRIGHT_COORDINATOR_DASHBOARD_API_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "coordinator/dashboard/prediction_log.h"
#include "coordinator/dashboard/store_survey.h"
#include "coordinator/http/http_server.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/metrics/census.h"
#include "coordinator/metrics/store_wait.h"
#include "coordinator/plans/leadership.h"
#include "coordinator/security/guard.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::dashboard {

struct Sources {
  const base::Clock* clock = nullptr;
  const security::Guard* guard = nullptr;
  const jobs::JobQueue* queue = nullptr;
  // The attached ones, and those that are to come back.
  std::function<std::vector<v1::WorkerSummary>()> workers = {};
  store::PlanStore* plans = nullptr;
  store::ProfileStore* profiles = nullptr;        // null: there is none
  const plans::Leadership* leadership = nullptr;  // null: the only one
  const PredictionLog* predictions = nullptr;
  std::string address;  // of the coordinator, for people
  // That a store of plans has to answer.
  absl::Duration store_patience = metrics::StoreWait::kPatience;
};

class Api {
 public:
  explicit Api(const Sources& sources);

  // Whether the path is one of an API, though perhaps of none that there is.
  static bool HasPath(absl::string_view path);
  // The JSON text.
  absl::StatusOr<std::string> Answer(const http::Request& request);
  // Until the store is counted, where a count runs.
  void AwaitCensus();

 private:
  const Sources sources_;
  const absl::Time started_;
  std::unique_ptr<metrics::Census<StoreSurvey>> census_;  // null: no store
  metrics::StoreWait plans_wait_;
};

}  // namespace meshwright::dashboard

#endif  // MESHWRIGHT_COORDINATOR_DASHBOARD_API_H_
