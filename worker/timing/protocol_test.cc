#include "worker/timing/protocol.h"

#include <gtest/gtest.h>

namespace meshwright::worker::timing {
namespace {

TEST(ProtocolTest, ZeroMeansTheDefault) {
  const auto protocol = ReadProtocol(v1::MeasureOptions());
  ASSERT_TRUE(protocol.ok());
  EXPECT_EQ(protocol->minimum_samples, 12);
  EXPECT_EQ(protocol->minimum_time, absl::Milliseconds(250));
  EXPECT_EQ(protocol->dynamic_limit_ratio, 0);
}

TEST(ProtocolTest, StatedNumbersAreTaken) {
  v1::MeasureOptions options;
  options.set_minimum_samples(5);
  options.set_minimum_time_ns(2'000'000);
  options.set_program_time_limit_ns(1'000'000);
  const auto protocol = ReadProtocol(options);
  ASSERT_TRUE(protocol.ok());
  EXPECT_EQ(protocol->minimum_samples, 5);
  EXPECT_EQ(protocol->minimum_time, absl::Milliseconds(2));
  EXPECT_EQ(protocol->time_limit, absl::Milliseconds(1));
}

TEST(ProtocolTest, ContradictionsAreRefused) {
  v1::MeasureOptions options;
  options.set_minimum_samples(9);
  options.set_maximum_samples(8);
  EXPECT_FALSE(ReadProtocol(options).ok());
  options.Clear();
  options.set_warm_up_runs(-1);
  EXPECT_FALSE(ReadProtocol(options).ok());
}

}  // namespace
}  // namespace meshwright::worker::timing
