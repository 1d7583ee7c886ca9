#include "worker/timing/quality.h"

#include <gtest/gtest.h>

namespace meshwright::worker::timing {
namespace {

Summary Samples(std::vector<int> milliseconds) {
  SampleSet samples;
  for (const int it : milliseconds) {
    samples.Add({absl::Milliseconds(it), absl::Milliseconds(it)});
  }
  return samples.Summarize(0);
}

Protocol Three() {
  Protocol protocol;
  protocol.minimum_samples = 3;
  return protocol;
}

TEST(QualityTest, AMinimumMetTwiceOnACalmMachineIsGood) {
  EXPECT_EQ(JudgeQuality(Samples({1000, 1010, 1500}), Three(), 0.02), v1::GOOD);
}

TEST(QualityTest, ABusyMachineIsNoisy) {
  EXPECT_EQ(JudgeQuality(Samples({1000, 1010, 1500}), Three(), 0.4), v1::NOISY);
}

TEST(QualityTest, TooFewSamplesAreNoisy) {
  EXPECT_EQ(JudgeQuality(Samples({1000, 1010}), Three(), 0), v1::NOISY);
}

TEST(QualityTest, AMinimumMetOnceIsNoisy) {
  EXPECT_EQ(JudgeQuality(Samples({1000, 1100, 1105}), Three(), 0), v1::NOISY);
}

}  // namespace
}  // namespace meshwright::worker::timing
