#include "cli/drift.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

v1::ProfileResult Took(int64_t nanoseconds) {
  v1::ProfileResult result;
  result.set_outcome(v1::MEASURED);
  result.mutable_measurement()->set_minimum_ns(nanoseconds / 2);
  result.mutable_measurement()->set_median_ns(nanoseconds);
  return result;
}

Anchor Of(const std::string& key, double runs, double nanoseconds) {
  Anchor anchor;
  anchor.program.set_key(key);
  anchor.runs = runs;
  anchor.profiled_ns = runs * nanoseconds;
  return anchor;
}

TEST(DriftTest, IsTheSumNowOverTheSumThen) {
  EXPECT_DOUBLE_EQ(*Drift({Of("layer", 9, 100), Of("head", 1, 100)},
                          {{"layer", Took(110)}, {"head", Took(200)}}),
                   1.19);
}

TEST(DriftTest, ProgramsThatDidNotRunSayNothing) {
  v1::ProfileResult crashed;
  crashed.set_outcome(v1::CRASHED);
  EXPECT_DOUBLE_EQ(*Drift({Of("a", 1, 100), Of("b", 5, 100), Of("c", 1, 100)},
                          {{"a", Took(90)}, {"b", crashed}}),
                   0.9);
  EXPECT_FALSE(Drift({Of("a", 1, 100)}, {}).has_value());
}

}  // namespace
}  // namespace meshwright::cli
