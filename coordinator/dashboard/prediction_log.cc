#include "coordinator/dashboard/prediction_log.h"

#include <cmath>

namespace meshwright::dashboard {

void PredictionLog::AddPrediction(const std::string& device_kind,
                                  double predicted_seconds,
                                  double measured_seconds) {
  if (next_ != nullptr) {
    next_->AddPrediction(device_kind, predicted_seconds, measured_seconds);
  }
  // A client's figure may be anything.
  if (!(predicted_seconds > 0) || !(measured_seconds > 0) ||
      !std::isfinite(predicted_seconds / measured_seconds)) {
    return;
  }
  base::MutexLock lock(&mutex_);
  kept_.push_back(
      {clock_->Now(), device_kind, predicted_seconds, measured_seconds});
  if (kept_.size() > kKept) kept_.pop_front();
}

std::vector<Prediction> PredictionLog::List() const {
  base::MutexLock lock(&mutex_);
  return {kept_.begin(), kept_.end()};
}

}  // namespace meshwright::dashboard
