#include "worker/timing/quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::worker::timing {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

v1::Measurement Judge(const std::vector<int>& milliseconds,
                      const Surroundings& surroundings = {}) {
  SampleSet samples;
  for (const int it : milliseconds) {
    samples.Add({absl::Milliseconds(it), absl::Milliseconds(it)});
  }
  Protocol protocol;
  protocol.minimum_samples = 3;
  v1::Measurement measurement;
  JudgeQuality(samples.Summarize(0), protocol, surroundings, measurement);
  return measurement;
}

TEST(QualityTest, AMinimumMetTwiceOnACalmMachineIsGood) {
  const v1::Measurement it = Judge({1000, 1010, 1500}, {.other_load = 0.02});
  EXPECT_EQ(it.quality(), v1::GOOD);
  EXPECT_THAT(it.noise(), IsEmpty());
  EXPECT_EQ(it.other_load(), 0.02);
}

TEST(QualityTest, ABusyMachineIsNoisy) {
  const v1::Measurement it = Judge({1000, 1010, 1500}, {.other_load = 0.4});
  EXPECT_EQ(it.quality(), v1::NOISY);
  EXPECT_THAT(it.noise(), ElementsAre(v1::BUSY_MACHINE));
}

TEST(QualityTest, TooFewSamplesAreNoisy) {
  const v1::Measurement it = Judge({1000, 1010});
  EXPECT_EQ(it.quality(), v1::NOISY);
  EXPECT_THAT(it.noise(), ElementsAre(v1::FEW_SAMPLES));
}

TEST(QualityTest, AMinimumMetOnceIsNoisy) {
  const v1::Measurement it = Judge({1000, 1100, 1105});
  EXPECT_EQ(it.quality(), v1::NOISY);
  EXPECT_THAT(it.noise(), ElementsAre(v1::MINIMUM_MET_ONCE));
}

TEST(QualityTest, AThrottledDeviceIsNoisy) {
  const v1::Measurement it = Judge({1000, 1010, 1500}, {.throttled = true});
  EXPECT_EQ(it.quality(), v1::NOISY);
  EXPECT_THAT(it.noise(), ElementsAre(v1::THROTTLED));
}

TEST(QualityTest, EveryReasonIsSaid) {
  const v1::Measurement it =
      Judge({1000, 1100}, {.other_load = 1, .throttled = true});
  EXPECT_THAT(it.noise(), ElementsAre(v1::BUSY_MACHINE, v1::FEW_SAMPLES,
                                      v1::MINIMUM_MET_ONCE, v1::THROTTLED));
}

}  // namespace
}  // namespace meshwright::worker::timing
