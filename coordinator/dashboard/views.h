// What the dashboard's page is told, as JSON.
//
// Concept: one function for each answer of the API, from plain values. Times of
// day are seconds since 1970, absent ones null. A list that could be long says
// how many there are and holds the first of them.
// Shapes: docs/formats/dashboard.md. Threads: pure functions. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_DASHBOARD_VIEWS_H_
#define MESHWRIGHT_COORDINATOR_DASHBOARD_VIEWS_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/dashboard/prediction_log.h"
#include "coordinator/dashboard/store_survey.h"
#include "coordinator/metrics/census.h"
#include "proto/v1/plans.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::dashboard {

using Json = nlohmann::ordered_json;
using SurveyCount = metrics::Census<StoreSurvey>::Count;

inline constexpr size_t kMaxTasks = 200;
inline constexpr size_t kMaxWorkers = 500;

// `counts`: of all plans by state; absent: the caller sees only some.
Json ViewPlans(const v1::ListPlansResponse& page,
               const std::optional<std::map<v1::PlanState, int64_t>>& counts);
// One with its plan, if it is done.
Json ViewPlan(const v1::PlanRecord& record);
// Those that run first, then those that wait, then those that are done.
Json ViewTasks(std::vector<v1::JobSummary> jobs, absl::Time now);
// Those that need someone first. All are counted by how they are.
Json ViewWorkers(std::vector<v1::WorkerSummary> workers);
// `survey`: absent while the first one runs.
Json ViewStore(const std::optional<SurveyCount>& survey);
Json ViewQuality(const std::optional<SurveyCount>& survey,
                 const std::vector<Prediction>& predictions);

}  // namespace meshwright::dashboard

#endif  // MESHWRIGHT_COORDINATOR_DASHBOARD_VIEWS_H_
