// StoreSurvey: what a store holds, and how good its rows are, day by day.
//
// Concept: it reads every row, so it is taken as seldom as a census
// (coordinator/metrics/census.h). A row counts on the day of the measurement
// whose times it has. Threads: pure function. Errors: those of the store.
#ifndef MESHWRIGHT_COORDINATOR_DASHBOARD_STORE_SURVEY_H_
#define MESHWRIGHT_COORDINATOR_DASHBOARD_STORE_SURVEY_H_

#include <cstdint>
#include <map>
#include <stop_token>

#include "absl/status/statusor.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::dashboard {

struct StoreSurvey {
  // The newest days that have measured rows, in days since 1970 UTC.
  static constexpr size_t kDays = 60;

  store::Statistics statistics;
  std::map<int64_t, std::map<v1::Quality, int64_t>> days;
};

absl::StatusOr<StoreSurvey> SurveyStore(store::ProfileStore& store,
                                        const std::stop_token& stop);

}  // namespace meshwright::dashboard

#endif  // MESHWRIGHT_COORDINATOR_DASHBOARD_STORE_SURVEY_H_
