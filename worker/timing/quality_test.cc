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

TEST(QualityTest, SamplesCloseTogetherOnACalmMachineAreGood) {
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

TEST(QualityTest, OneBusyProcessIsBusyOnAnyNumberOfProcessors) {
  for (const int processors : {1, 2, 16, 32, 128}) {
    const double share = FindBusyShare(processors);
    EXPECT_LT(share, 0.9 / processors) << processors;
    EXPECT_GE(share, 0.05 / processors) << processors << ": daemons";
    const v1::Measurement it =
        Judge({1000, 1010, 1500},
              {.other_load = 1.0 / processors, .busy_share = share});
    EXPECT_THAT(it.noise(), ElementsAre(v1::BUSY_MACHINE)) << processors;
  }
  EXPECT_EQ(FindBusyShare(2), kBusyShare);
}

TEST(QualityTest, TooFewSamplesAreNoisy) {
  const v1::Measurement it = Judge({1000, 1010});
  EXPECT_EQ(it.quality(), v1::NOISY);
  EXPECT_THAT(it.noise(), ElementsAre(v1::FEW_SAMPLES));
}

TEST(QualityTest, SamplesFarApartAreNoisyUnlessThereAreMany) {
  const std::vector<int> some = {1000, 1100, 1200};
  const v1::Measurement it = Judge(some);
  EXPECT_EQ(it.quality(), v1::NOISY);
  EXPECT_THAT(it.noise(), ElementsAre(v1::UNSTEADY));
  std::vector<int> many;
  for (int i = 0; i < 12; ++i) {
    many.insert(many.end(), some.begin(), some.end());
  }
  EXPECT_EQ(Judge(many).quality(), v1::GOOD);
}

TEST(QualityTest, AThrottledDeviceIsNoisy) {
  const v1::Measurement it = Judge({1000, 1010, 1500}, {.throttled = true});
  EXPECT_EQ(it.quality(), v1::NOISY);
  EXPECT_THAT(it.noise(), ElementsAre(v1::THROTTLED));
}

TEST(QualityTest, WhatADeviceSaidOfARunStays) {
  v1::DeviceSensors after;
  after.set_temperature_celsius(70);
  EXPECT_EQ(Judge({1000, 1010, 1500}, {.sensors = after})
                .sensors()
                .temperature_celsius(),
            70);
  v1::Measurement watched;
  watched.mutable_sensors()->set_temperature_celsius(60);
  JudgeQuality({}, {}, {.sensors = after}, watched);
  EXPECT_EQ(watched.sensors().temperature_celsius(), 60);
}

TEST(QualityTest, EveryReasonIsSaid) {
  const v1::Measurement it =
      Judge({1000, 1100}, {.other_load = 1, .throttled = true});
  EXPECT_THAT(it.noise(), ElementsAre(v1::BUSY_MACHINE, v1::FEW_SAMPLES,
                                      v1::UNSTEADY, v1::THROTTLED));
}

}  // namespace
}  // namespace meshwright::worker::timing
