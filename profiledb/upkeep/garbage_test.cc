#include "profiledb/upkeep/garbage.h"

#include <gtest/gtest.h>

#include <chrono>

#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

constexpr int kToday = 20'000;
constexpr Nanoseconds kCollectionTime{std::chrono::days(kToday)};

class GarbageTest : public testing::Test {
 protected:
  // Measured and used so many days ago.
  void Add(const std::string& name, int measured, int used,
           const std::string& team = kSharedPool) {
    const Entry entry{.result = MakeMeasured(name),
                      .origin = {.team = team,
                                 .recorded = Nanoseconds(
                                     std::chrono::days(kToday - measured))},
                      .program = program_,
                      .last_used_day = kToday - used};
    ASSERT_TRUE(store_.Record({&entry, 1}).ok());
  }

  std::string Left() {
    std::string left;
    for (const char* const name : {"a", "b", "c", "d"}) {
      const auto kept = store_.LookupKept(MakeKey(name), kSharedPool);
      if (!kept->empty()) left += name;
    }
    return left;
  }

  const std::string program_ = std::string(1000, 'h');
  FakeProfileStore store_;
};

TEST_F(GarbageTest, WithoutLimitsNothingGoes) {
  Add("a", 10'000, 10'000);
  const auto report = CollectGarbage(store_, {}, kCollectionTime);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->rows(), 0);
  EXPECT_EQ(report->rows_left(), 1);
  EXPECT_GT(report->bytes_left(), 1000);
  EXPECT_EQ(Left(), "a");
}

TEST_F(GarbageTest, OldRowsGoWithTheirPrograms) {
  Add("a", 31, 0);
  Add("b", 30, 0);
  const auto report =
      CollectGarbage(store_, {.maximum_age_days = 30}, kCollectionTime);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->rows(), 1);
  EXPECT_GT(report->bytes(), 1000);
  EXPECT_EQ(Left(), "b");
  EXPECT_FALSE(store_.LookupProgram(MakeKey("a")).ok());
  EXPECT_TRUE(store_.LookupProgram(MakeKey("b")).ok());
}

TEST_F(GarbageTest, ARowIsAsYoungAsItsNewestMeasurement) {
  Add("a", 31, 0);
  Add("a", 1, 0);
  EXPECT_EQ(
      CollectGarbage(store_, {.maximum_age_days = 30}, kCollectionTime)->rows(),
      0);
}

TEST_F(GarbageTest, UnusedRowsGo) {
  Add("a", 100, 8);
  Add("b", 100, 7);
  EXPECT_EQ(CollectGarbage(store_, {.maximum_unused_days = 7}, kCollectionTime)
                ->rows(),
            1);
  EXPECT_EQ(Left(), "b");
}

TEST_F(GarbageTest, BytesTakeWhatWasUsedLongestAgo) {
  Add("b", 1, 30);
  Add("a", 1, 20);
  Add("d", 9, 10);
  Add("c", 1, 10);
  const int64_t all = CollectGarbage(store_, {}, kCollectionTime)->bytes_left();
  EXPECT_EQ(
      CollectGarbage(store_, {.maximum_bytes = all}, kCollectionTime)->rows(),
      0);
  const auto report =
      CollectGarbage(store_, {.maximum_bytes = all / 2}, kCollectionTime);
  EXPECT_EQ(report->rows(), 2);
  EXPECT_EQ(report->bytes() + report->bytes_left(), all);
  EXPECT_EQ(Left(), "cd");
  // Of one day, the one that was measured longer ago.
  EXPECT_EQ(CollectGarbage(store_, {.maximum_bytes = all / 4}, kCollectionTime)
                ->rows(),
            1);
  EXPECT_EQ(Left(), "c");
}

TEST_F(GarbageTest, KeysThatAreNeededStay) {
  Add("a", 100, 100);
  Add("b", 100, 100);
  Add("c", 100, 100);
  const auto report = CollectGarbage(store_,
                                     {.maximum_age_days = 10,
                                      .maximum_unused_days = 10,
                                      .maximum_bytes = 0,
                                      .keep = {MakeKey("b"), MakeKey("q")}},
                                     kCollectionTime);
  EXPECT_EQ(report->rows(), 2);
  EXPECT_EQ(report->kept(), 1);
  EXPECT_EQ(report->rows_left(), 1);
  EXPECT_EQ(Left(), "b");
  EXPECT_TRUE(store_.LookupProgram(MakeKey("b")).ok());
}

TEST_F(GarbageTest, ADryRunOnlySays) {
  Add("a", 100, 100);
  const auto report = CollectGarbage(
      store_, {.maximum_age_days = 10, .dry_run = true}, kCollectionTime);
  EXPECT_EQ(report->rows(), 1);
  EXPECT_EQ(report->rows_left(), 0);
  EXPECT_EQ(Left(), "a");
}

TEST_F(GarbageTest, AnotherTeamsRowKeepsTheProgram) {
  Add("a", 100, 100);
  Add("a", 1, 1, "red");
  EXPECT_EQ(
      CollectGarbage(store_, {.maximum_age_days = 10}, kCollectionTime)->rows(),
      1);
  EXPECT_TRUE(store_.LookupProgram(MakeKey("a")).ok());
}

TEST_F(GarbageTest, WhatPlansNeedStays) {
  for (const char* const name : {"a", "b", "c"}) Add(name, 100, 50);
  Add("d", 100, 40);
  GarbageLimits limits{.maximum_age_days = 30, .maximum_bytes = 0};
  limits.plans.keys = {MakeKey("b")};
  limits.plans.used_since_day = kToday - 40;
  const auto report = CollectGarbage(store_, limits, kCollectionTime);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->rows(), 2);
  EXPECT_EQ(report->kept(), 2);
  EXPECT_EQ(Left(), "bd");
}

}  // namespace
}  // namespace meshwright::store
