#include "planner/symbolic/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "planner/symbolic/testing/random_graph.h"

namespace meshwright::symbolic {
namespace {

using problem::Picoseconds;
using ::testing::HasSubstr;

constexpr Device kDevice{.flops_per_second = 1e12,
                         .bytes_per_second = 1e10,
                         .flops_per_transcendental = 10};

TEST(RooflineTest, TheSlowerOfArithmeticAndTraffic) {
  EXPECT_EQ(EstimateByRoofline({2000, 0}, 10, kDevice), Picoseconds(2000));
  EXPECT_EQ(EstimateByRoofline({2000, 0}, 100, kDevice), Picoseconds(10000));
  EXPECT_EQ(EstimateByRoofline({2000, 300}, 10, kDevice), Picoseconds(5000));
  EXPECT_EQ(EstimateByRoofline({INT64_MAX, INT64_MAX}, 0, {1e-3, 1}),
            problem::kMaxTime);
}

TEST(RooflineTest, RatesAreNumbersAboveZero) {
  const double bad[] = {0, -1, std::nan(""),
                        std::numeric_limits<double>::infinity()};
  for (double rate : bad) {
    Device device = kDevice;
    device.flops_per_second = rate;
    EXPECT_THAT(Validate(device).message(),
                HasSubstr("device.flops_per_second"));
    device = kDevice;
    device.bytes_per_second = rate;
    EXPECT_THAT(Validate(device).message(),
                HasSubstr("device.bytes_per_second"));
    device = kDevice;
    device.flops_per_transcendental = rate;
    EXPECT_THAT(Validate(device).message(),
                HasSubstr("device.flops_per_transcendental"));
  }
}

TEST(ProfileTest, RowsAddUp) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const OpGraph graph = RandomGraph(seed, 40);
    const auto profile = ProfileStep(graph, kDevice);
    ASSERT_TRUE(profile.ok()) << profile.status();
    Counts by_operation, by_operator;
    int64_t traffic = 0, written = 0;
    Picoseconds time{0};
    for (const Row& row : profile->operations) {
      by_operation = Sum(by_operation, row.counts);
      traffic += row.traffic_bytes;
      time += row.forward_time + row.backward_time;
    }
    for (const Row& row : profile->operators) {
      by_operator = Sum(by_operator, row.counts);
      written += row.bytes_written;
    }
    EXPECT_EQ(by_operation, profile->total.counts);
    EXPECT_EQ(by_operator, profile->total.counts);
    EXPECT_EQ(traffic, profile->total.traffic_bytes);
    EXPECT_EQ(written, profile->total.bytes_written);
    EXPECT_EQ(time, profile->total.forward_time + profile->total.backward_time);
    EXPECT_EQ(profile->total.operations, 40);
  }
}

TEST(ProfileTest, ALoopCountsItsTrips) {
  OpGraph graph;
  const int x = AddOperation(graph, Storage::kArgument, 100, {});
  const int y = AddOperation(graph, Storage::kOwn, 100, {x});
  graph.operations[y].counts = {7, 1};
  const auto once = ProfileStep(graph, kDevice);
  graph.operations[y].trips = 5;
  const auto five = ProfileStep(graph, kDevice);
  EXPECT_EQ(five->total.counts, (Counts{35, 5}));
  EXPECT_EQ(five->total.bytes_read, 500);
  EXPECT_EQ(five->total.traffic_bytes, 1000);
  EXPECT_EQ(five->total.forward_time, 5 * once->total.forward_time);
  EXPECT_EQ(five->footprint.temporary_bytes, once->footprint.temporary_bytes);
}

TEST(ProfileTest, FiguresAtTheLimitsSaturate) {
  OpGraph graph;
  const int x = AddOperation(graph, Storage::kArgument, INT64_MAX, {});
  for (int i = 0; i < 4; ++i) {
    const int y = AddOperation(graph, Storage::kOwn, INT64_MAX, {x, x});
    graph.operations[y].counts = {INT64_MAX, INT64_MAX};
    graph.operations[y].trips = INT64_MAX;
  }
  const auto profile = ProfileStep(graph, kDevice);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->total.counts, (Counts{INT64_MAX, INT64_MAX}));
  EXPECT_EQ(profile->total.bytes_read, INT64_MAX);
  EXPECT_EQ(profile->total.traffic_bytes, INT64_MAX);
  EXPECT_EQ(profile->total.forward_time, problem::kMaxTime);
}

TEST(ProfileTest, BadGraphsAreRefusedByField) {
  const auto message = [](auto change) {
    OpGraph graph;
    const int x = AddOperation(graph, Storage::kArgument, 1, {});
    AddOperation(graph, Storage::kOwn, 1, {x});
    graph.outputs = {{1, {}}};
    change(graph);
    return std::string(ProfileStep(graph, kDevice).status().message());
  };
  EXPECT_EQ(message([](OpGraph&) {}), "");
  EXPECT_THAT(message([](OpGraph& g) { g.operations[1].reads[0].value = 1; }),
              HasSubstr("operations[1].reads[0].value is 1"));
  EXPECT_THAT(message([](OpGraph& g) { g.operations[1].reads[0].bytes = -1; }),
              HasSubstr("operations[1].reads[0].bytes"));
  EXPECT_THAT(message([](OpGraph& g) { g.operations[1].bytes = -2; }),
              HasSubstr("operations[1].bytes is -2"));
  EXPECT_THAT(message([](OpGraph& g) { g.operations[0].trips = 0; }),
              HasSubstr("operations[0].trips"));
  EXPECT_THAT(message([](OpGraph& g) { g.operations[0].op = 2; }),
              HasSubstr("operations[0].op"));
  EXPECT_THAT(message([](OpGraph& g) { g.operations[0].segment = 0; }),
              HasSubstr("operations[0].segment"));
  EXPECT_THAT(
      message([](OpGraph& g) { g.operations[0].storage = Storage::kView; }),
      HasSubstr("view of nothing"));
  EXPECT_THAT(message([](OpGraph& g) { g.outputs[0].value = 2; }),
              HasSubstr("outputs[0].value"));
  EXPECT_THAT(message([](OpGraph& g) { g.outputs[0].argument = 1; }),
              HasSubstr("outputs[0].argument"));
}

}  // namespace
}  // namespace meshwright::symbolic
