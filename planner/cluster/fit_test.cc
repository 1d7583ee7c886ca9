#include "planner/cluster/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "planner/cluster/testing/topologies.h"

namespace meshwright::cluster {
namespace {

TEST(TimingTest, TheWorkOfEveryOperation) {
  struct Case {
    Operation operation;
    double steps;
    double bytes;
    double bus;  // bytes per second, at one second
  };
  const Case cases[] = {
      {Operation::kAllReduce, 6, 12, 12},   {Operation::kAllGather, 3, 24, 24},
      {Operation::kReduceScatter, 3, 6, 6}, {Operation::kAllToAll, 3, 6, 6},
      {Operation::kBroadcast, 2, 16, 8},    {Operation::kSendReceive, 1, 8, 8}};
  for (const Case& it : cases) {
    const Work work = CountWork(it.operation, 4, 8);
    EXPECT_EQ(work.steps, it.steps) << NameOperation(it.operation);
    EXPECT_EQ(work.bytes, it.bytes) << NameOperation(it.operation);
    EXPECT_EQ(ComputeBusBandwidth({it.operation, 4, 8, 1}), it.bus);
    EXPECT_EQ(ParseOperation(NameOperation(it.operation)), it.operation);
  }
  EXPECT_EQ(CountWork(Operation::kBroadcast, 5, 1).steps, 3);
  EXPECT_EQ(CountWork(Operation::kBroadcast, 1, 1).steps, 0);
  EXPECT_EQ(ParseOperation("all-together"), std::nullopt);
}

TEST(FitTest, EveryClassOfTheTopologiesWithinOnePercent) {
  std::mt19937_64 random(1);
  for (const Cluster& cluster : {MakePairedBox(), MakeSwitchedBox(),
                                 MakeTwoHosts(8), MakeMixedHosts()}) {
    for (const LinkClass& it : cluster.classes()) {
      const auto timings = MakeTimings(it.link, {2, 4, 8}, 0.01, random);
      const auto fit = FitLink(timings);
      ASSERT_TRUE(fit.ok()) << fit.status();
      EXPECT_NEAR(fit->link.alpha / it.link.alpha, 1, 0.01) << it.name;
      EXPECT_NEAR(fit->link.beta / it.link.beta, 1, 0.01) << it.name;
      EXPECT_NEAR(fit->residual, 0.01, 0.003);
      EXPECT_GT(fit->maximum_residual, fit->residual);
      EXPECT_EQ(fit->timings, static_cast<int>(timings.size()));
    }
  }
}

TEST(FitTest, ABurstBendsNeitherFigure) {
  constexpr base::Link kLink{50e-6, 40e-9};
  std::vector<Timing> timings;
  for (double bytes = 64; bytes <= (16 << 20); bytes *= 2) {
    const double shaped = std::max(0.0, bytes - 32768) * kLink.beta;
    timings.push_back(
        {Operation::kSendReceive, 2, bytes, kLink.alpha + shaped});
  }
  const auto fit = FitLink(timings);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit->link.beta / kLink.beta, 1, 1e-9);
  EXPECT_NEAR(fit->link.alpha / kLink.alpha, 1, 0.2);
  EXPECT_GT(fit->maximum_residual, 0.1);  // one line does not hold
}

TEST(FitTest, ALinkThatIsAllLatencyOrAllBandwidth) {
  std::vector<Timing> latency;
  std::vector<Timing> bandwidth;
  for (double bytes = 1; bytes < 1000; bytes *= 3) {
    latency.push_back({Operation::kAllReduce, 4, bytes, 6e-3});
    bandwidth.push_back({Operation::kAllReduce, 4, bytes, 1.5 * bytes});
  }
  EXPECT_NEAR(FitLink(latency)->link.alpha, 1e-3, 1e-9);
  EXPECT_NEAR(FitLink(latency)->link.beta, 0, 1e-9);
  EXPECT_NEAR(FitLink(bandwidth)->link.alpha, 0, 1e-9);
  EXPECT_NEAR(FitLink(bandwidth)->link.beta, 1, 1e-9);
}

TEST(FitTest, TimingsThatTellNothing) {
  const Timing one{Operation::kAllGather, 2, 8, 1};
  EXPECT_THAT(std::string(FitLink({}).status().message()),
              testing::HasSubstr("two sizes"));
  EXPECT_THAT(std::string(FitLink(std::vector{one, one}).status().message()),
              testing::HasSubstr("two sizes"));
  Timing negative = one;
  negative.seconds = -1;
  EXPECT_THAT(
      std::string(FitLink(std::vector{one, negative}).status().message()),
      testing::HasSubstr("the all-gather of 8 bytes took -1 seconds"));
  negative.seconds = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(FitLink(std::vector{one, negative}).ok());
}

}  // namespace
}  // namespace meshwright::cluster
