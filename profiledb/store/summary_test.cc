#include "profiledb/store/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "profiledb/store/anchor_time.h"
#include "profiledb/store/check_row.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

KeptRow Kept(int64_t minimum_ns, v1::Quality quality = v1::GOOD) {
  return {MakeMeasured("k", minimum_ns, quality), {}};
}

int64_t Minimum(const KeptRow& row) {
  return row.result.measurement().minimum_ns();
}

int64_t ChosenMinimum(const std::vector<KeptRow>& kept) {
  return Minimum(kept[Summarize(kept).chosen]);
}

TEST(SummaryTest, OneMeasurementIsItsOwnSummary) {
  for (const v1::Quality quality :
       {v1::QUALITY_UNSPECIFIED, v1::GOOD, v1::NOISY}) {
    const Summary summary = Summarize({Kept(1000, quality)});
    EXPECT_EQ(summary.chosen, 0);
    EXPECT_EQ(summary.quality, quality);
    EXPECT_EQ(summary.spread_ns, 0);
  }
}

TEST(SummaryTest, OfTwoTheLowerCountsWithHalfTheirDistance) {
  const std::vector<KeptRow> kept = {Kept(1625), Kept(947)};
  const Summary summary = Summarize(kept);
  EXPECT_EQ(summary.chosen, 1);
  EXPECT_EQ(summary.quality, v1::GOOD);
  EXPECT_EQ(summary.spread_ns, 339);
}

TEST(SummaryTest, ASlowOneAmongThreeIsSuspect) {
  const std::vector<KeptRow> kept = {Kept(1625), Kept(950), Kept(947)};
  const Summary summary = Summarize(kept);
  EXPECT_EQ(summary.is_suspect, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(summary.chosen, 2);
  EXPECT_EQ(summary.quality, v1::GOOD);
  EXPECT_EQ(summary.spread_ns, 2);
}

TEST(SummaryTest, TenPercentIsTheLeastThatIsSuspected) {
  const auto outlier = [](int64_t minimum) -> bool {
    return Summarize({Kept(minimum), Kept(1000), Kept(1000)}).is_suspect[0];
  };
  EXPECT_FALSE(outlier(1100));
  EXPECT_TRUE(outlier(1101));
  EXPECT_FALSE(outlier(900));
  EXPECT_TRUE(outlier(899));
}

TEST(SummaryTest, WhatScattersMoreIsSuspectedLater) {
  // The others' median is 1000, their median distance from it 100.
  const auto outlier = [](int64_t minimum) -> bool {
    return Summarize({Kept(minimum), Kept(800), Kept(900), Kept(1000),
                      Kept(1100), Kept(1200)})
        .is_suspect[0];
  };
  EXPECT_FALSE(outlier(1444));
  EXPECT_TRUE(outlier(1445));
}

TEST(SummaryTest, NoisyOnesCountOnlyWhereNoneIsGood) {
  const std::vector<KeptRow> kept = {Kept(1500, v1::NOISY),
                                     Kept(1550, v1::NOISY), Kept(1000)};
  const Summary summary = Summarize(kept);
  EXPECT_EQ(summary.chosen, 2);
  EXPECT_EQ(summary.quality, v1::GOOD);
  EXPECT_EQ(summary.spread_ns, 0);
  EXPECT_EQ(summary.is_suspect, (std::vector<bool>{false, false, false}));
  EXPECT_EQ(Summarize(absl::MakeSpan(kept).first(2)).quality, v1::NOISY);
}

TEST(SummaryTest, WhereAllDisagreeTheAnswerIsSuspect) {
  const std::vector<KeptRow> kept = {Kept(1000), Kept(1005), Kept(2000),
                                     Kept(2005)};
  const Summary summary = Summarize(kept);
  EXPECT_EQ(summary.is_suspect, std::vector<bool>(4, true));
  EXPECT_EQ(summary.quality, v1::SUSPECT);
  EXPECT_EQ(summary.spread_ns, 503);
  EXPECT_EQ(ChosenMinimum(kept), 1005);
}

TEST(SummaryTest, MediansCountNotMinima) {
  std::vector<KeptRow> kept = {Kept(900), Kept(1000)};
  kept[0].result.mutable_measurement()->set_median_ns(1010);
  EXPECT_EQ(Summarize(kept).chosen, 1u);  // the lower of two
  EXPECT_EQ(Summarize(kept).spread_ns, 5);
}

TEST(SummaryTest, TheSpreadIsNoLessThanTheSamplesSay) {
  KeptRow row = Kept(1000);
  v1::Measurement& it = *row.result.mutable_measurement();
  it.set_mad_ns(40);
  for (int i = 0; i < 16; ++i) it.add_samples_ns(1000 + i);
  EXPECT_EQ(Summarize({row}).spread_ns, 19);  // 1.858 * 40 / 4
  it.set_sample_count(64);
  EXPECT_EQ(Summarize({row}).spread_ns, 9);
}

TEST(SummaryTest, NoSpreadIsLongerThanARowMayHave) {
  KeptRow row = Kept(1000);
  v1::Measurement& it = *row.result.mutable_measurement();
  it.set_mad_ns(kMaximumExecutionNs);
  it.add_samples_ns(1000);
  EXPECT_EQ(Summarize({row}).spread_ns, kMaximumExecutionNs);
}

KeptRow KeptBeside(int64_t minimum_ns, int64_t anchor_ns) {
  KeptRow row = Kept(minimum_ns);
  v1::AnchorTime& anchor = *row.result.mutable_measurement()->add_anchors();
  anchor.set_name(kSpeedAnchor);
  anchor.set_minimum_ns(anchor_ns);
  return row;
}

// The machine was slower by as much as its anchor.
TEST(SummaryTest, TimesAreComparedOnOneBase) {
  const std::vector<bool> none(3, false);
  const Summary minute =
      Summarize({KeptBeside(10'000, 20'000), KeptBeside(10'100, 20'200),
                 KeptBeside(12'000, 24'000)});
  EXPECT_EQ(minute.is_suspect, none);
  EXPECT_EQ(minute.chosen, 1);
  EXPECT_EQ(minute.spread_ns, 0);
  const Summary days =
      Summarize({KeptBeside(10'000, 20'000), KeptBeside(12'000, 24'000),
                 KeptBeside(14'000, 28'000)});
  EXPECT_EQ(days.is_suspect, none);
  EXPECT_EQ(days.spread_ns, 0);
  // Of two the faster period; the spread is as its times are.
  const Summary two =
      Summarize({KeptBeside(10'000, 20'000), KeptBeside(12'600, 24'000)});
  EXPECT_EQ(two.chosen, 0);
  EXPECT_EQ(two.spread_ns, 250);
  // An anchor that no machine has.
  EXPECT_TRUE(Summarize({KeptBeside(40'000, 80'000), Kept(10'000),
                         KeptBeside(10'000, 20'000)})
                  .is_suspect[0]);
}

TEST(SummaryTest, OfEqualsTheNewestIsChosen) {
  EXPECT_EQ(Summarize({Kept(5000), Kept(1000), Kept(1000), Kept(1000)}).chosen,
            1);
}

TEST(SummaryTest, AFailureIsItsOwnAnswer) {
  const Answer answer = MakeAnswer({{MakeRow("k", v1::CRASHED, "why"), {}}});
  EXPECT_EQ(answer.result.reason(), "why");
}

TEST(SummaryTest, TheAnswerCarriesQualityAndSpread) {
  const std::vector<KeptRow> kept = {Kept(1200, v1::NOISY),
                                     Kept(1000, v1::NOISY)};
  const Answer answer = MakeAnswer(kept);
  EXPECT_EQ(answer.chosen, 1);
  EXPECT_EQ(answer.result.measurement().quality(), v1::NOISY);
  EXPECT_EQ(answer.result.measurement().spread_ns(), 100);
}

TEST(SummaryTest, TheAnswerCountsWhatNoBusyMachineDisturbed) {
  std::vector<KeptRow> kept = {Kept(1200, v1::NOISY), Kept(1000, v1::NOISY),
                               Kept(1000)};
  const auto noise = [&](int row) {
    return kept[row].result.mutable_measurement()->mutable_noise();
  };
  noise(0)->Add(v1::MINIMUM_MET_ONCE);
  noise(1)->Add(v1::BUSY_MACHINE);
  EXPECT_EQ(MakeAnswer(kept).result.measurement().undisturbed(), 2);
  kept[0].origin.recorded = Nanoseconds(std::chrono::nanoseconds(70));
  EXPECT_EQ(MakeAnswer(kept).result.measurement().recorded_unix_ns(), 70);
}

// Properties, on made-up keys of one to eight measurements.
class SummaryProperties : public testing::TestWithParam<int> {
 protected:
  std::vector<KeptRow> Draw() {
    std::vector<KeptRow> kept;
    const int count = 1 + static_cast<int>(random_() % kMaximumKept);
    for (int i = 0; i < count; ++i) {
      // Within a few percent, an outlier of four.
      int64_t minimum = 1'000'000 + static_cast<int64_t>(random_() % 30'000);
      if (random_() % 4 == 0) minimum = minimum * (11 + random_() % 20) / 10;
      kept.push_back(Kept(minimum, random_() % 3 == 0 ? v1::NOISY : v1::GOOD));
      kept.back().result.mutable_measurement()->set_mad_ns(
          static_cast<int64_t>(random_() % 1000));
      kept.back().result.mutable_measurement()->set_sample_count(12);
    }
    return kept;
  }

  std::mt19937 random_{static_cast<uint32_t>(GetParam())};
};

TEST_P(SummaryProperties, TheChosenOneIsOfTheBestClass) {
  const std::vector<KeptRow> kept = Draw();
  const Summary summary = Summarize(kept);
  const auto quality = [&](size_t i) {
    return kept[i].result.measurement().quality();
  };
  bool has_good = false;
  bool has_sound = false;
  for (size_t i = 0; i < kept.size(); ++i) {
    has_good |= quality(i) == v1::GOOD;
    has_sound |=
        quality(i) == quality(summary.chosen) && !summary.is_suspect[i];
  }
  EXPECT_EQ(quality(summary.chosen) == v1::GOOD, has_good);
  EXPECT_EQ(summary.is_suspect[summary.chosen], !has_sound);
  EXPECT_EQ(summary.quality == v1::SUSPECT, !has_sound);
}

TEST_P(SummaryProperties, OrderDoesNotMatter) {
  std::vector<KeptRow> kept = Draw();
  const int64_t minimum = ChosenMinimum(kept);
  const v1::Quality quality = Summarize(kept).quality;
  for (int i = 0; i < 5; ++i) {
    std::shuffle(kept.begin(), kept.end(), random_);
    EXPECT_EQ(ChosenMinimum(kept), minimum);
    EXPECT_EQ(Summarize(kept).quality, quality);
  }
}

TEST_P(SummaryProperties, ScalesWithTheTimes) {
  std::vector<KeptRow> kept = Draw();
  const Summary summary = Summarize(kept);
  for (KeptRow& row : kept) {
    v1::Measurement& it = *row.result.mutable_measurement();
    it.set_minimum_ns(8 * it.minimum_ns());
    it.set_median_ns(8 * it.median_ns());
    it.set_mad_ns(8 * it.mad_ns());
  }
  const Summary scaled = Summarize(kept);
  EXPECT_EQ(scaled.chosen, summary.chosen);
  EXPECT_EQ(scaled.is_suspect, summary.is_suspect);
  EXPECT_NEAR(static_cast<double>(scaled.spread_ns),
              8.0 * static_cast<double>(summary.spread_ns), 8);
}

TEST_P(SummaryProperties, TheAnswerLiesAmongTheCountedAndTheSpreadCoversThem) {
  const std::vector<KeptRow> kept = Draw();
  const Summary summary = Summarize(kept);
  int64_t low = INT64_MAX;
  int64_t high = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    const bool is_counted = kept[i].result.measurement().quality() ==
                            kept[summary.chosen].result.measurement().quality();
    if (!is_counted ||
        (summary.is_suspect[i] && summary.quality != v1::SUSPECT)) {
      continue;
    }
    low = std::min(low, Minimum(kept[i]));
    high = std::max(high, Minimum(kept[i]));
  }
  EXPECT_LE(low, Minimum(kept[summary.chosen]));
  EXPECT_LE(Minimum(kept[summary.chosen]), high);
  EXPECT_GE(2 * summary.spread_ns, high - low);
}

// Whatever one bad measurement says, enough good ones outvote it.
TEST_P(SummaryProperties, OneForgedAmongThreeNeverMovesTheAnswerFar) {
  std::vector<KeptRow> kept;
  for (int i = 0; i < 3; ++i) {
    kept.push_back(Kept(1'000'000 + static_cast<int64_t>(random_() % 20'000)));
  }
  kept.push_back(Kept(1 + static_cast<int64_t>(random_() % 10'000'000)));
  EXPECT_GE(ChosenMinimum(kept), 900'000);
  EXPECT_LE(ChosenMinimum(kept), 1'120'000);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SummaryProperties, testing::Range(0, 200));

}  // namespace
}  // namespace meshwright::store
