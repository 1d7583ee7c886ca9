#include "coordinator/segmenter/segments/cover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace meshwright::segmenter {
namespace {

// "0-4 4-8 8-9" for the segments of a sequence written as letters.
std::string Cover(const std::string& sequence, int strategies = 3) {
  const std::vector<uint64_t> hashes(sequence.begin(), sequence.end());
  const std::vector<int> configurations(sequence.size(), strategies);
  std::string text;
  for (const Segment& segment : CoverSequence(hashes, configurations)) {
    if (!text.empty()) text += ' ';
    text += std::to_string(segment.first_block) + "-" +
            std::to_string(segment.last_block);
  }
  return text;
}

TEST(CoverTest, ARepeatedLayerIsOneSegmentEach) {
  EXPECT_EQ(Cover("abcdabcdh"), "0-4 4-8 8-9");
}

TEST(CoverTest, TheLargestCoverageWinsOverTheShortestPeriod) {
  EXPECT_EQ(Cover("aabaab"), "0-3 3-6");
}

TEST(CoverTest, TheRestIsJoinedWhileItIsSmall) {
  EXPECT_EQ(Cover("abcdabcdxy"), "0-4 4-8 8-10");
}

TEST(CoverTest, APeriodOfTooManyConfigurationsIsCut) {
  EXPECT_EQ(Cover("abcdefabcdef"), "0-2 2-4 4-6 6-8 8-10 10-12");
}

TEST(CoverTest, ALayerOfPiecesThatAreThereAnywayIsCutIntoThem) {
  // An encoder's layers abxy, a decoder's abcdxy.
  EXPECT_EQ(Cover("abxyabxyabcdxyabcdxyh"),
            "0-2 2-4 4-6 6-8 8-10 10-12 12-14 14-16 16-18 18-20 20-21");
  EXPECT_EQ(Cover("abxzabxzabcdxyabcdxy"),
            "0-4 4-8 8-10 10-12 12-14 14-16 16-18 18-20");
}

TEST(CoverTest, ARepeatBeginsWhereTheOneBeforeItEnds) {
  // Layers that begin with the last block of the encoder's repeat as well.
  EXPECT_EQ(Cover("abcdabcdabebcdabebcdf"),
            "0-2 2-4 4-6 6-8 8-10 10-12 12-14 14-16 16-18 18-20 20-21");
}

TEST(CoverTest, EqualBlocksInARowAreSegmentsOfOneBlock) {
  EXPECT_EQ(Cover("aaaa"), "0-1 1-2 2-3 3-4");
}

TEST(CoverTest, NothingIsCoveredByNothing) { EXPECT_EQ(Cover(""), ""); }

TEST(CoverTest, TheBoundOfTheSearchIsSaid) {
  bool cut_short = false;
  CoverSequence({1, 2, 3, 4}, {3, 3, 3, 3}, &cut_short);
  EXPECT_FALSE(cut_short);
  // No two are equal, so every period is tried.
  std::vector<uint64_t> hashes(400'000);
  std::iota(hashes.begin(), hashes.end(), 0);
  CoverSequence(hashes, std::vector<int>(hashes.size(), 128), &cut_short);
  EXPECT_TRUE(cut_short);
}

}  // namespace
}  // namespace meshwright::segmenter
