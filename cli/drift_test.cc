#include "cli/drift.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

v1::ProfileResult Took(int64_t nanoseconds) {
  v1::ProfileResult result;
  result.set_outcome(v1::MEASURED);
  result.mutable_measurement()->set_minimum_ns(nanoseconds);
  return result;
}

TEST(DriftTest, IsTheMedianOfNowOverThen) {
  EXPECT_DOUBLE_EQ(
      *Drift({{"a", 100}, {"b", 100}, {"c", 100}},
             {{"a", Took(110)}, {"b", Took(300)}, {"c", Took(105)}}),
      1.1);
  EXPECT_DOUBLE_EQ(
      *Drift({{"a", 100}, {"b", 200}}, {{"a", Took(110)}, {"b", Took(240)}}),
      1.15);
}

TEST(DriftTest, ProgramsThatDidNotRunSayNothing) {
  v1::ProfileResult crashed;
  crashed.set_outcome(v1::CRASHED);
  EXPECT_DOUBLE_EQ(*Drift({{"a", 100}, {"b", 100}, {"c", 100}},
                          {{"a", Took(90)}, {"b", crashed}}),
                   0.9);
  EXPECT_FALSE(Drift({{"a", 100}}, {}).has_value());
}

}  // namespace
}  // namespace meshwright::cli
