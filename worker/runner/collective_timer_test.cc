#include "worker/runner/collective_timer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace meshwright::worker::runner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kTimedDevices = 2;

class CollectiveTimerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto plugin = pjrt::Plugin::Load(*pjrt::FindPlugin("cpu", ""));
    ASSERT_TRUE(plugin.ok()) << plugin.status();
    pjrt::ClientOptions options;
    options.platform = "cpu";
    options.device_count = kTimedDevices;
    auto client = pjrt::Client::Create(*plugin, options);
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
    protocol_.minimum_samples = 2;
    protocol_.maximum_samples = 2;
    v1::Collective& collective = all_reduce_.emplace_back();
    collective.set_kind("all-reduce");
    collective.set_bytes(1 << 10);
    collective.set_group_size(kTimedDevices);
    collective.set_count(3);
  }
  absl::Status Learn(CollectiveTimer& timer) {
    steps_ = 0;
    return timer.Learn(all_reduce_, kTimedDevices, [&] { ++steps_; });
  }

  std::unique_ptr<pjrt::Client> client_;
  timing::Protocol protocol_;
  std::vector<v1::Collective> all_reduce_;
  int steps_ = 0;
};

TEST_F(CollectiveTimerTest, TheCallerHearsOfEveryRun) {
  CollectiveTimer timer(*client_, protocol_);
  ASSERT_TRUE(Learn(timer).ok());
  // Of the collective and of the launch: two samples, each behind a warm-up.
  EXPECT_GE(steps_, 2 * 2 * 2);
  const auto sum = timer.Sum(all_reduce_, kTimedDevices);
  EXPECT_THAT(sum.left_out, IsEmpty());
  EXPECT_GE(sum.total, absl::ZeroDuration());
}

TEST_F(CollectiveTimerTest, WhatHasNoTimeInItsLimitIsLeftOutAndNotTriedAgain) {
  protocol_.time_limit = absl::Nanoseconds(1);
  CollectiveTimer timer(*client_, protocol_);
  ASSERT_TRUE(Learn(timer).ok());
  const auto sum = timer.Sum(all_reduce_, kTimedDevices);
  EXPECT_THAT(sum.left_out, ElementsAre("all-reduce"));
  EXPECT_EQ(sum.total, absl::ZeroDuration());
  ASSERT_TRUE(Learn(timer).ok());
  EXPECT_EQ(steps_, 0);
}

}  // namespace
}  // namespace meshwright::worker::runner
