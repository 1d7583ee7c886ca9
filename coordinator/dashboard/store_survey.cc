#include "coordinator/dashboard/store_survey.h"

#include <chrono>

#include "base/status_macros.h"

namespace meshwright::dashboard {

absl::StatusOr<StoreSurvey> SurveyStore(store::ProfileStore& store,
                                        const std::stop_token& stop) {
  StoreSurvey survey;
  ASSIGN_OR_RETURN(survey.statistics, store.Count());
  RETURN_IF_ERROR(store.ForEach([&](const v1::ProfileResult& row,
                                    const store::Origin& origin) {
    if (stop.stop_requested()) return false;
    if (row.outcome() != v1::MEASURED) return true;
    const auto day = std::chrono::floor<std::chrono::days>(origin.recorded);
    ++survey.days[day.time_since_epoch().count()][row.measurement().quality()];
    if (survey.days.size() > StoreSurvey::kDays) {
      survey.days.erase(survey.days.begin());
    }
    return true;
  }));
  return survey;
}

}  // namespace meshwright::dashboard
