#include "worker/timing/quality.h"

namespace meshwright::worker::timing {

void JudgeQuality(const Summary& summary, const Protocol& protocol,
                  const Surroundings& surroundings,
                  v1::Measurement& measurement) {
  measurement.set_other_load(surroundings.other_load);
  measurement.clear_noise();
  if (surroundings.other_load > kBusyShare) {
    measurement.add_noise(v1::BUSY_MACHINE);
  }
  if (static_cast<int>(summary.kept.size()) < protocol.minimum_samples) {
    measurement.add_noise(v1::FEW_SAMPLES);
  }
  if (summary.second_smallest > (1 + kMetTwiceWithin) * summary.minimum) {
    measurement.add_noise(v1::MINIMUM_MET_ONCE);
  }
  if (surroundings.throttled) measurement.add_noise(v1::THROTTLED);
  measurement.set_quality(measurement.noise().empty() ? v1::GOOD : v1::NOISY);
}

}  // namespace meshwright::worker::timing
