#include "coordinator/validation/report_figures.h"

#include <gtest/gtest.h>

#include <limits>

#include "proto/v1/reports.pb.h"

namespace meshwright::validation {
namespace {

using Row = v1::ValidatedPlan;

TEST(SetDifferenceTest, AKinkOfTheFirstInputsIsForgiven) {
  Row row;
  SetDifference(0.5, 1e-6, 1e-3, row);
  EXPECT_EQ(row.max_relative_difference(), 1e-6);
  EXPECT_EQ(row.difference_on_first_inputs(), 0.5);
}

TEST(SetDifferenceTest, WhatDiffersOnOtherInputsTooDiffers) {
  Row row;
  SetDifference(0.5, 0.4, 1e-3, row);
  EXPECT_EQ(row.max_relative_difference(), 0.5);
}

TEST(SetDifferenceTest, NoKinkMakesInfinityOrNan) {
  for (const double wrong : {std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    Row row;
    SetDifference(wrong, 1e-6, 1e-3, row);
    EXPECT_TRUE(Differs(row.max_relative_difference(), 1e-3)) << wrong;
  }
}

}  // namespace
}  // namespace meshwright::validation
