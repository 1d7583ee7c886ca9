#include "planner/intraop/costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "planner/intraop/testing/random_model.h"

namespace meshwright::intraop {
namespace {

using problem::Picoseconds;
using ::testing::HasSubstr;

// 2 (n - 1) (alpha + b / n beta) of MakeMachine.
int64_t AllReduce(int64_t devices, int64_t bytes) {
  return 2 * (devices - 1) * (5'000'000 + bytes / devices * 50);
}

TEST(CostsTest, ComputingIsSharedAndSumsAreReduced) {
  const Operator it = MatrixOperator(64, 32, 16);
  const Machine machine = MakeMachine({4});
  const int64_t all = 6 * 64 * 32 * 16;
  EXPECT_EQ(ComputeCost(it, {std::nullopt}, machine).time.count(), all);
  EXPECT_EQ(ComputeCost(it, {0}, machine).time.count(),
            all / 4 + AllReduce(4, 4 * 32 * 16));
  EXPECT_EQ(ComputeCost(it, {1}, machine).time.count(),
            all / 4 + AllReduce(4, 4 * 64 * 16));
  EXPECT_EQ(ComputeCost(it, {2}, machine).time.count(),
            all / 4 + AllReduce(4, 4 * 64 * 32));
}

TEST(CostsTest, WhatIsReducedIsAPartWhereOtherAxesSplitIt) {
  const Operator it = MatrixOperator(64, 32, 16);
  const Machine machine = MakeMachine({2, 4});
  // Axis 0 on the batch, axis 1 on the contraction: y is a sum over axis 1 of
  // halves, the gradient of w a sum over axis 0 of quarters.
  EXPECT_EQ(ComputeCost(it, {0, 2}, machine).time.count(),
            6 * 64 * 32 * 16 / 8 + AllReduce(4, 4 * 64 * 32 / 2) +
                AllReduce(2, 4 * 32 * 16 / 4));
}

TEST(CostsTest, MemoryIsSharedByTheIndicesOfTheTensor) {
  const Operator it = MatrixOperator(64, 32, 16);
  const Machine machine = MakeMachine({4});
  const problem::Config batch = ComputeCost(it, {0}, machine);
  EXPECT_EQ(batch.persistent_bytes, 12 * 32 * 16);
  EXPECT_EQ(batch.saved_bytes, 64 * 32);
  const problem::Config columns = ComputeCost(it, {1}, machine);
  EXPECT_EQ(columns.persistent_bytes, 3 * 32 * 16);
  EXPECT_EQ(columns.transient_bytes, 2 * 64 * 32);
}

TEST(CostsTest, AlpaCountsBytesOnly) {
  const Operator it = MatrixOperator(64, 32, 16);
  const Machine machine = MakeMachine({4}, CostKind::kCommunication);
  EXPECT_EQ(ComputeCost(it, {std::nullopt}, machine).time.count(), 0);
  EXPECT_EQ(ComputeCost(it, {2}, machine).time.count(),
            AllReduce(4, 4 * 64 * 32) - AllReduce(4, 0));
}

Edge SomeEdge() {
  Edge edge;
  edge.from = 0;
  edge.to = 1;
  edge.dims = {64, 32};
  edge.elem_bytes = 4;
  edge.from_indices = {0, 1};
  edge.to_indices = {0, 2};
  return edge;
}

TEST(CostsTest, NeighboursAlikeCostNothingAndOthersConvert) {
  const std::vector<Strategy> ways = {{std::nullopt}, {0}, {1}, {2}};
  const Machine machine = MakeMachine({4});
  layout::LayoutPlanner planner;
  Edge edge = SomeEdge();
  const auto table = MakeReshardingTable(edge, ways, ways, machine, planner);
  ASSERT_TRUE(table.ok()) << table.status();
  // Whole, rows and columns of the reader: whole is sliced for nothing.
  EXPECT_EQ(table->at(0, 0), Picoseconds(0));
  EXPECT_EQ(table->at(0, 1), Picoseconds(0));
  EXPECT_EQ(table->at(1, 1), Picoseconds(0));
  EXPECT_EQ(table->at(2, 3), Picoseconds(0));
  const int64_t tile = 64 * 32 * 4 / 4;
  EXPECT_EQ(table->at(1, 0), Picoseconds(3 * (5'000'000 + tile * 50)));
  EXPECT_EQ(table->at(1, 3), Picoseconds(3 * (5'000'000 + tile / 4 * 50)));
  // The reader's columns are not what the tensor has: it needs it whole.
  EXPECT_EQ(table->at(1, 2), table->at(1, 0));

  edge.gradient = true;
  edge.times = 3;
  const auto both = MakeReshardingTable(edge, ways, ways, machine, planner);
  EXPECT_EQ(both->at(1, 3), 3 * 2 * *table->at(1, 3));
  EXPECT_EQ(both->at(0, 1), 3 * *table->at(1, 0));  // gathered on the way back
}

TEST(CostsTest, AlpaConvertsByVolume) {
  const std::vector<Strategy> ways = {{std::nullopt}, {0}, {2}};
  layout::LayoutPlanner planner;
  const auto table =
      MakeReshardingTable(SomeEdge(), ways, ways,
                          MakeMachine({4}, CostKind::kCommunication), planner);
  ASSERT_TRUE(table.ok()) << table.status();
  const int64_t tile = 64 * 32 * 4 / 4;
  EXPECT_EQ(table->at(0, 1), Picoseconds(0));
  EXPECT_EQ(table->at(1, 0), Picoseconds(3 * tile * 50));
  EXPECT_EQ(table->at(1, 2), Picoseconds(3 * tile / 4 * 50));
}

TEST(CostsTest, SumsAtTheLimitsSaturate) {
  Operator it = MatrixOperator(8, 8, 8);
  it.time = {{INT64_MAX, {}}, {INT64_MAX, {0}}};
  it.saved = {{INT64_MAX, {}}, {INT64_MAX, {}}};
  it.partials = {{{INT64_MAX, {}}, {0}, INT64_MAX}};
  const problem::Config config = ComputeCost(it, {0}, MakeMachine({2}));
  EXPECT_EQ(config.time, problem::kMaxTime);
  EXPECT_EQ(config.saved_bytes, INT64_MAX);
}

TEST(CostsTest, AMachineHasAMeshAndItsLinks) {
  EXPECT_TRUE(Validate(MakeMachine({2, 2})).ok());
  Machine machine = MakeMachine({2, 2});
  machine.mesh = {2};
  EXPECT_THAT(Validate(machine).message(), HasSubstr("links"));
  machine.mesh = {2, 0};
  EXPECT_THAT(Validate(machine).message(), HasSubstr("mesh[1] is 0"));
  machine.mesh = {};
  EXPECT_THAT(Validate(machine).message(), HasSubstr("mesh has 0 axes"));
}

}  // namespace
}  // namespace meshwright::intraop
