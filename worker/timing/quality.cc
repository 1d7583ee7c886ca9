#include "worker/timing/quality.h"

namespace meshwright::worker::timing {

v1::Quality JudgeQuality(const Summary& summary, const Protocol& protocol,
                         double other_load) {
  const bool busy = other_load > kBusyShare;
  const bool few =
      static_cast<int>(summary.kept.size()) < protocol.minimum_samples;
  const bool met_once =
      summary.second_smallest > (1 + kMetTwiceWithin) * summary.minimum;
  return busy || few || met_once ? v1::NOISY : v1::GOOD;
}

}  // namespace meshwright::worker::timing
