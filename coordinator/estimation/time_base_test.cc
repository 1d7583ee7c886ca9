#include "coordinator/estimation/time_base.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiledb/store/anchor_time.h"

namespace meshwright::estimation {
namespace {

v1::ProfileResult Row(int64_t nanoseconds, int64_t compute, int64_t memory) {
  v1::ProfileResult row;
  row.set_outcome(v1::MEASURED);
  v1::Measurement& it = *row.mutable_measurement();
  it.set_minimum_ns(nanoseconds);
  it.set_median_ns(nanoseconds + 10);
  it.set_time_ns(nanoseconds + 2);
  it.add_samples_ns(nanoseconds);
  it.add_quantiles_ns(nanoseconds + 50);
  it.set_spread_ns(nanoseconds / 10);
  it.set_communication_ns(nanoseconds / 2);
  it.set_compute_ns(nanoseconds - nanoseconds / 2);
  const auto add = [&](const char* name, int64_t time) {
    v1::AnchorTime& anchor = *it.add_anchors();
    anchor.set_name(name);
    anchor.set_minimum_ns(time);
  };
  if (compute > 0) add(store::kSpeedAnchor, compute);
  if (memory > 0) add("memory", memory);
  return row;
}

TEST(TimeBaseTest, TheFastestAnchorIsOfAMeasurement) {
  store::Results rows;
  EXPECT_FALSE(FindFastestAnchor(rows).has_value());
  rows["none"] = Row(900, 0, 0);
  EXPECT_FALSE(FindFastestAnchor(rows).has_value());
  rows["slow"] = Row(1250, 125, 250);
  rows["fast"] = Row(1000, 100, 200);
  rows["failed"] = Row(1000, 50, 200);
  rows["failed"].set_outcome(v1::CRASHED);
  EXPECT_EQ(FindFastestAnchor(rows), 100);
}

// The anchor itself errs: the smallest of a hundred lies far below the rest.
TEST(TimeBaseTest, OneLuckyAnchorMakesNoOtherSlow) {
  const auto count_slow = [](const std::vector<int64_t>& anchors) {
    store::Results rows;
    for (const int64_t anchor : anchors) {
      rows[std::to_string(rows.size())] = Row(1000, anchor, 0);
    }
    const TimeBase fastest = FindFastestAnchor(rows);
    int slow = 0;
    for (const auto& [key, row] : rows) {
      slow += IsOfSlowPeriod(fastest, row.measurement()) ? 1 : 0;
    }
    return slow;
  };
  std::vector<int64_t> anchors(20, 26);
  anchors.push_back(23);
  EXPECT_EQ(count_slow(anchors), 0);
  anchors.assign(10, 26);
  anchors.insert(anchors.end(), 10, 20);
  EXPECT_EQ(count_slow(anchors), 10);
}

TEST(TimeBaseTest, RowsOfASlowDayComeToTheOthersBase) {
  store::Results rows;
  rows["a"] = Row(1000, 100, 200);
  rows["b"] = Row(2000, 100, 200);
  rows["slow"] = Row(1250, 125, 250);
  const TimeBase base = FindTimeBase(rows);
  EXPECT_EQ(base, 100);
  EXPECT_EQ(BringToOneTimeBase(rows), base);
  EXPECT_EQ(rows["a"].measurement().minimum_ns(), 1000);
  EXPECT_EQ(rows["b"].measurement().minimum_ns(), 2000);
  const v1::Measurement& slow = rows["slow"].measurement();
  EXPECT_EQ(slow.minimum_ns(), 1000);
  EXPECT_EQ(slow.samples_ns(0), 1000);
  EXPECT_EQ(slow.quantiles_ns(0), 1040);
  EXPECT_EQ(slow.spread_ns(), 100);
  EXPECT_EQ(slow.compute_ns() + slow.communication_ns(), slow.time_ns());
  EXPECT_EQ(slow.anchors(0).minimum_ns(), 125);
}

TEST(TimeBaseTest, OtherAnchorsScaleNothing) {
  const TimeBase base = 100;
  EXPECT_EQ(store::FindTimeBaseFactor(base, Row(1, 100, 500).measurement()), 1);
  EXPECT_EQ(store::FindTimeBaseFactor(base, Row(1, 102, 100).measurement()),
            100 / 102.0);
}

TEST(TimeBaseTest, FactorsAreBounded) {
  const TimeBase base = 100;
  EXPECT_EQ(store::FindTimeBaseFactor(base, Row(1, 1000, 0).measurement()),
            1 / store::kMaxTimeBaseFactor);
  EXPECT_EQ(store::FindTimeBaseFactor(base, Row(1, 10, 0).measurement()),
            store::kMaxTimeBaseFactor);
}

TEST(TimeBaseTest, RowsWithoutAnchorsStay) {
  const TimeBase base = 100;
  v1::ProfileResult row = Row(1000, 0, 77);
  BringToTimeBase(base, row);
  EXPECT_EQ(row.measurement().minimum_ns(), 1000);
  EXPECT_FALSE(FindTimeBase({}).has_value());
}

TEST(TimeBaseTest, FailuresDoNotSetTheBase) {
  store::Results rows;
  rows["a"] = Row(1000, 100, 0);
  for (const char* key : {"b", "c"}) {
    rows[key] = Row(1000, 1, 0);
    rows[key].set_outcome(v1::TRANSIENT);
  }
  EXPECT_EQ(FindTimeBase(rows), 100);
}

TEST(TimeBaseTest, FailuresStay) {
  v1::ProfileResult row = Row(1000, 200, 0);
  row.set_outcome(v1::CRASHED);
  BringToTimeBase(100, row);
  EXPECT_EQ(row.measurement().minimum_ns(), 1000);
}

}  // namespace
}  // namespace meshwright::estimation
