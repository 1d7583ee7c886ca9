#include "coordinator/estimation/measured_cost.h"

#include <gtest/gtest.h>

namespace meshwright::estimation {
namespace {

class MeasuredCostTest : public testing::Test {
 protected:
  MeasuredCostTest() {
    v1::Program program;
    program.set_key("layer");
    space_.programs.push_back(program);
    configuration_.program = space::ProgramId(0);
    configuration_.persistent_bytes = 1000;
    configuration_.saved_bytes = 70;
    configuration_.given_bytes = 20;
  }

  problem::Config Cost(int64_t temporary_bytes, int64_t copy_bytes = 0) {
    v1::ProfileResult row;
    row.set_outcome(v1::MEASURED);
    row.mutable_measurement()->set_minimum_ns(5);
    row.mutable_measurement()->mutable_memory()->set_temporary_bytes(
        temporary_bytes);
    row.mutable_measurement()->mutable_memory()->set_argument_copy_bytes(
        copy_bytes);
    results_ = {{"layer", row}};
    const auto cost = FindMeasuredCost(space_, configuration_, results_);
    EXPECT_TRUE(cost.has_value());
    return *cost;
  }

  space::ProfileSpace space_;
  space::Configuration configuration_;
  store::Results results_;
};

TEST_F(MeasuredCostTest, WhatIsNotSavedOfTheTemporariesIsTransient) {
  const problem::Config cost = Cost(90);
  EXPECT_EQ(cost.persistent_bytes, 1000);
  EXPECT_EQ(cost.saved_bytes, 70);
  EXPECT_EQ(cost.transient_bytes, 40);
}

TEST_F(MeasuredCostTest, WhatCrossesIsNoneOfTheTemporaries) {
  configuration_.crossing_bytes = 30;
  const problem::Config cost = Cost(90);
  EXPECT_EQ(cost.saved_bytes, 70);
  EXPECT_EQ(cost.transient_bytes, 70);
  EXPECT_EQ(Cost(15).saved_bytes, 65);
}

TEST_F(MeasuredCostTest, CopiesOfArgumentsAreNotTransient) {
  const problem::Config cost = Cost(90, 15);
  EXPECT_EQ(cost.persistent_bytes, 1000);
  EXPECT_EQ(cost.saved_bytes, 70);
  EXPECT_EQ(cost.transient_bytes, 25);
  EXPECT_EQ(FindArgumentCopyBytes(space_, configuration_, results_), 15);
}

TEST_F(MeasuredCostTest, ZerosThatStayAreNotTransient) {
  configuration_.base_bytes = 10;
  const problem::Config cost = Cost(90);
  EXPECT_EQ(cost.persistent_bytes, 1000);
  EXPECT_EQ(cost.transient_bytes, 30);
}

TEST_F(MeasuredCostTest, SumsOverTripsLiveThroughTheStep) {
  configuration_.summed_bytes = 5;
  const problem::Config cost = Cost(90);
  EXPECT_EQ(cost.persistent_bytes, 1005);
  EXPECT_EQ(cost.saved_bytes, 65);
  EXPECT_EQ(cost.transient_bytes, 40);
}

TEST_F(MeasuredCostTest, NoMoreIsSavedThanTheProgramHolds) {
  const problem::Config cost = Cost(30);
  EXPECT_EQ(cost.saved_bytes, 50);
  EXPECT_EQ(cost.transient_bytes, 0);
}

TEST_F(MeasuredCostTest, UnknownTemporariesLimitNothing) {
  EXPECT_EQ(Cost(0).saved_bytes, 70);
}

TEST_F(MeasuredCostTest, AProgramOfFewerTripsLimitsNothing) {
  configuration_.weight = 4;
  EXPECT_EQ(Cost(30).saved_bytes, 70);
}

TEST_F(MeasuredCostTest, NoMoreIsReducedThanTheGradientsAre) {
  v1::ProfileResult row;
  row.set_outcome(v1::MEASURED);
  for (const int bytes : {40, 100}) {
    v1::Collective& it = *row.mutable_measurement()->add_collectives();
    it.set_kind("all-reduce");
    it.set_bytes(bytes);
  }
  results_ = {{"layer", row}};
  EXPECT_EQ(FindReducedBytes(space_, configuration_, results_), 0);
  configuration_.reduced_bytes = 30;
  EXPECT_EQ(FindReducedBytes(space_, configuration_, results_), 30);
  configuration_.reduced_bytes = 200;
  EXPECT_EQ(FindReducedBytes(space_, configuration_, results_), 100);
}

TEST(ToCostTest, WhatIsTooLongIsHeldAtTheLongest) {
  EXPECT_EQ(ToCost(5), problem::Picoseconds(5'000));
  EXPECT_EQ(ToCost(3.6e12 * 3'000), kLongestCost);
  EXPECT_EQ(ToCost(1e300), kLongestCost);
}

}  // namespace
}  // namespace meshwright::estimation
