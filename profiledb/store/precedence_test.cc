#include "profiledb/store/precedence.h"

#include <gtest/gtest.h>

#include <chrono>

#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

constexpr Nanoseconds kNow{std::chrono::seconds(1000)};

KeptRow Kept(int64_t minimum_ns, int second) {
  return {MakeMeasured("k", minimum_ns),
          {.recorded = Nanoseconds(std::chrono::seconds(second))}};
}

std::string Minima(const std::vector<KeptRow>& kept) {
  std::string text;
  for (const KeptRow& it : kept) {
    text += std::to_string(it.result.measurement().minimum_ns()) + " ";
  }
  return text;
}

TEST(PrecedenceTest, MeasurementsAreKeptNewestFirst) {
  std::vector<KeptRow> kept;
  EXPECT_TRUE(Admit(Kept(1, 10), kept, kNow));
  EXPECT_TRUE(Admit(Kept(2, 30), kept, kNow));
  EXPECT_TRUE(Admit(Kept(3, 20), kept, kNow));
  // Of one time, the one that came last.
  EXPECT_TRUE(Admit(Kept(4, 20), kept, kNow));
  EXPECT_EQ(Minima(kept), "2 4 3 1 ");
}

TEST(PrecedenceTest, TheSameMeasurementCountsOnce) {
  std::vector<KeptRow> kept;
  EXPECT_TRUE(Admit(Kept(1, 10), kept, kNow));
  EXPECT_TRUE(Admit(Kept(2, 20), kept, kNow));
  EXPECT_FALSE(Admit(Kept(1, 10), kept, kNow));
  EXPECT_EQ(Minima(kept), "2 1 ");
  KeptRow elsewhere = Kept(1, 10);
  elsewhere.origin.host = "another";
  EXPECT_TRUE(Admit(elsewhere, kept, kNow));
  EXPECT_EQ(Minima(kept), "2 1 1 ");
}

TEST(PrecedenceTest, TheOldestMakesRoom) {
  std::vector<KeptRow> kept;
  for (int i = 1; i <= kMaximumKept; ++i) Admit(Kept(i, i), kept, kNow);
  EXPECT_TRUE(Admit(Kept(9, 9), kept, kNow));
  EXPECT_EQ(Minima(kept), "9 8 7 6 5 4 3 2 ");
  EXPECT_FALSE(Admit(Kept(1, 1), kept, kNow));
  EXPECT_EQ(kept.size(), kMaximumKept);
}

TEST(PrecedenceTest, RowsOfTheFutureKeepNoCurrentOneOut) {
  std::vector<KeptRow> kept;
  for (int i = 1; i <= kMaximumKept; ++i) Admit(Kept(i, 2000 + i), kept, kNow);
  EXPECT_EQ(Minima(kept), "8 7 6 5 4 3 2 1 ");
  EXPECT_TRUE(Admit(Kept(9, 1030), kept, kNow));
  EXPECT_TRUE(Admit(Kept(10, 500), kept, kNow));
  EXPECT_EQ(Minima(kept), "6 5 4 3 2 1 9 10 ");
  for (int i = 11; i <= 16; ++i) Admit(Kept(i, 600), kept, kNow);
  EXPECT_EQ(Minima(kept), "9 16 15 14 13 12 11 10 ");
  EXPECT_FALSE(Admit(Kept(17, 2001), kept, kNow));
  EXPECT_EQ(Minima(kept), "9 16 15 14 13 12 11 10 ");
}

TEST(PrecedenceTest, AFailureTakesNoMeasurementsPlace) {
  KeptRow failed;
  failed.result.set_outcome(v1::CRASHED);
  failed.origin.recorded = Nanoseconds(std::chrono::seconds(99));
  std::vector<KeptRow> kept;
  EXPECT_TRUE(Admit(failed, kept, kNow));
  EXPECT_TRUE(Admit(Kept(1, 10), kept, kNow));
  EXPECT_FALSE(Admit(failed, kept, kNow));
  EXPECT_EQ(Minima(kept), "1 ");
}

TEST(PrecedenceTest, AJudgementOfAnotherStoreIsNotKept) {
  v1::ProfileResult result = MakeMeasured("k", 1000, v1::SUSPECT);
  result.mutable_measurement()->set_spread_ns(7);
  result.mutable_measurement()->set_undisturbed(7);
  result.mutable_measurement()->set_device_id("cuda:0");
  const KeptRow row = MakeKept(result, {});
  EXPECT_EQ(row.result.measurement().quality(), v1::NOISY);
  EXPECT_EQ(row.result.measurement().spread_ns(), 0);
  EXPECT_EQ(row.result.measurement().undisturbed(), 0);
  EXPECT_EQ(row.origin.device_id, "cuda:0");
}

TEST(PrecedenceTest, TheEndOfALogIsKept) {
  const std::string log = std::string(kMaximumLogBytes, 'a') + "end";
  EXPECT_EQ(CutLog(log).size(), kMaximumLogBytes);
  EXPECT_EQ(CutLog(log).substr(kMaximumLogBytes - 4), "aend");
  EXPECT_EQ(CutLog("short"), "short");
}

}  // namespace
}  // namespace meshwright::store
