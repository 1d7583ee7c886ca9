// PredictionLog: the newest predictions that were compared with a measurement.
//
// Concept: an observer that keeps what it hears, the newest kKept, and hands it
// on to the next one. It is in memory: it begins empty with each start.
// Units: times are positive; the rest is left out.
// Threads: any. Ownership: what it points to outlives it. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_DASHBOARD_PREDICTION_LOG_H_
#define MESHWRIGHT_COORDINATOR_DASHBOARD_PREDICTION_LOG_H_

#include <deque>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "coordinator/service/prediction_observer.h"

namespace meshwright::dashboard {

struct Prediction {
  absl::Time when;  // it was measured
  std::string device_kind;
  double predicted_seconds = 0;
  double measured_seconds = 0;
};

class PredictionLog : public service::PredictionObserver {
 public:
  static constexpr size_t kKept = 500;

  // `next`: null for nobody.
  PredictionLog(const base::Clock* clock, service::PredictionObserver* next)
      : clock_(clock), next_(next) {}

  void AddPrediction(const std::string& device_kind, double predicted_seconds,
                     double measured_seconds) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The oldest first.
  std::vector<Prediction> List() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const base::Clock* const clock_;
  service::PredictionObserver* const next_;

  mutable base::Mutex mutex_;
  std::deque<Prediction> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::dashboard

#endif  // MESHWRIGHT_COORDINATOR_DASHBOARD_PREDICTION_LOG_H_
