#include "worker/timing/quality.h"

#include <algorithm>

namespace meshwright::worker::timing {

double FindBusyShare(int processors) {
  return std::min(kBusyShare, kBusyProcessors / std::max(processors, 1));
}

void JudgeQuality(const Summary& summary, const Protocol& protocol,
                  const Surroundings& surroundings,
                  v1::Measurement& measurement) {
  measurement.set_other_load(surroundings.other_load);
  if (surroundings.sensors.has_value() && !measurement.has_sensors()) {
    *measurement.mutable_sensors() = *surroundings.sensors;
  }
  measurement.clear_noise();
  if (surroundings.other_load > surroundings.busy_share) {
    measurement.add_noise(v1::BUSY_MACHINE);
  }
  if (static_cast<int>(summary.kept.size()) < protocol.minimum_samples) {
    measurement.add_noise(v1::FEW_SAMPLES);
  }
  if (summary.error > kSteady) measurement.add_noise(v1::UNSTEADY);
  if (surroundings.throttled) measurement.add_noise(v1::THROTTLED);
  measurement.set_quality(measurement.noise().empty() ? v1::GOOD : v1::NOISY);
}

}  // namespace meshwright::worker::timing
