// PredictionObserver: hears how a predicted time and its measurement differ.
//
// Threads: called from any thread. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_PREDICTION_OBSERVER_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_PREDICTION_OBSERVER_H_

#include <string>

namespace meshwright::service {

class PredictionObserver {
 public:
  virtual ~PredictionObserver() = default;
  // Of one whole program that was measured; both times are positive.
  virtual void AddPrediction(const std::string& device_kind,
                             double predicted_seconds,
                             double measured_seconds) = 0;
};

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_PREDICTION_OBSERVER_H_
