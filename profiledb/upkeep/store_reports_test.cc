#include "profiledb/upkeep/store_reports.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

TEST(StoreReportsTest, RowsAreCountedByOutcomeQualityAndMachine) {
  FakeProfileStore store;
  Origin here;
  here.machine = "m1";
  here.host = "h1";
  Origin there;
  there.machine = "m2";
  EXPECT_TRUE(store.Record(MakeMeasured("a"), here).ok());
  EXPECT_TRUE(store.Record(MakeMeasured("b", 1'000'000, v1::NOISY), here).ok());
  EXPECT_TRUE(store.Record(MakeRow("c", v1::COMPILE_FAILED, "no"), there).ok());
  EXPECT_TRUE(store.Quarantine(MakeKey("d"), 3, "it crashes", "").ok());
  const v1::StoreReport report = *ReportStore(store);
  EXPECT_EQ(report.outcomes().at("measured"), 2);
  EXPECT_EQ(report.outcomes().at("compile_failed"), 1);
  EXPECT_EQ(report.qualities().at("good"), 1);
  EXPECT_EQ(report.qualities().at("noisy"), 1);
  ASSERT_EQ(report.machines_size(), 2);
  EXPECT_EQ(report.machines(0).machine(), "m1");
  EXPECT_EQ(report.machines(0).host(), "h1");
  EXPECT_EQ(report.machines(0).rows(), 2);
  EXPECT_EQ(report.quarantined(), 1);

  const v1::QuarantineReport quarantine = *ReportQuarantine(store);
  ASSERT_EQ(quarantine.programs_size(), 1);
  EXPECT_EQ(quarantine.programs(0).key(), MakeKey("d"));
  EXPECT_EQ(quarantine.programs(0).state(),
            v1::QuarantinedProgram::QUARANTINED);
  EXPECT_EQ(quarantine.programs(0).reason(), "it crashes");
}

TEST(StoreReportsTest, WhatProgramsPrintedFitsIntoAMessage) {
  FakeProfileStore store;
  constexpr int kEntries = 400;
  const std::string log = std::string(40'000, 'x') + "the end \xff";
  for (int i = 0; i < kEntries; ++i) {
    const std::string key = MakeKey(std::to_string(i));
    EXPECT_TRUE(store.Quarantine(key, 1, std::string(16'000, 'r'), log).ok());
  }
  const v1::QuarantineReport report = *ReportQuarantine(store);
  ASSERT_EQ(report.programs_size(), kEntries);
  EXPECT_LT(report.ByteSizeLong(), size_t{16} << 20);
  for (const v1::QuarantinedProgram& it : report.programs()) {
    EXPECT_GT(it.log().size(), 10'000u);
    EXPECT_EQ(it.log().substr(it.log().size() - 9), "the end ?");
  }
}

TEST(StoreReportsTest, ARowHasItsMeasurementsWhereverItIsFound) {
  FakeProfileStore store;
  Origin shared;
  shared.host = "h1";
  shared.recorded = Nanoseconds(std::chrono::nanoseconds(1));
  Origin again = shared;
  again.recorded = Nanoseconds(std::chrono::nanoseconds(2));
  Origin own = shared;
  own.team = "vision";
  EXPECT_TRUE(store.Record(MakeMeasured("a", 1'000'000), shared).ok());
  EXPECT_TRUE(store.Record(MakeMeasured("a", 1'010'000), again).ok());
  EXPECT_TRUE(store.Record(MakeMeasured("b"), own).ok());
  const v1::RowsReport report =
      *ReportRows(store, {MakeKey("b"), MakeKey("x"), MakeKey("a")}, "vision");
  ASSERT_EQ(report.rows_size(), 3);
  EXPECT_EQ(report.rows(0).kept_size(), 1);
  EXPECT_FALSE(report.rows(1).has_row());
  ASSERT_EQ(report.rows(2).kept_size(), 2);
  EXPECT_EQ(report.rows(2).kept(0).recorded_unix_ns(), 2);
  EXPECT_EQ(report.rows(2).kept(0).host(), "h1");
  EXPECT_EQ(report.rows(2).row().key(), MakeKey("a"));
  EXPECT_FALSE(
      ReportRows(store, {MakeKey("b")}, kSharedPool)->rows(0).has_row());
  EXPECT_TRUE(
      absl::IsInvalidArgument(ReportRows(store, {"a"}, kSharedPool).status()));
}

}  // namespace
}  // namespace meshwright::store
