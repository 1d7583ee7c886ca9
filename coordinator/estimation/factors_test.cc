#include "coordinator/estimation/factors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/configurations/switches.h"

namespace meshwright::estimation {
namespace {

using ::testing::ElementsAre;

TEST(JoinDependentTest, ColumnsThatVaryFreelyStay) {
  EXPECT_THAT(
      JoinDependent({{0, 0}, {0, 1}, {1, 0}, {1, 1}}),
      ElementsAre(Factors{0, 0}, Factors{0, 1}, Factors{1, 0}, Factors{1, 1}));
}

TEST(JoinDependentTest, ColumnsOfOneNeighbourAreOne) {
  EXPECT_THAT(
      JoinDependent({{0, 0, 0}, {0, 1, 1}, {1, 0, 0}, {1, 1, 1}}),
      ElementsAre(Factors{0, 0}, Factors{0, 1}, Factors{1, 0}, Factors{1, 1}));
  // One combination is missing.
  EXPECT_THAT(JoinDependent({{0, 0}, {0, 1}, {1, 1}}),
              ElementsAre(Factors{0}, Factors{1}, Factors{2}));
}

TEST(JoinDependentTest, JoinedColumnsAreLookedAtAgain) {
  // The first goes with the third, and that with the second.
  EXPECT_THAT(JoinDependent({{0, 0, 0}, {1, 1, 2}, {0, 1, 1}}),
              ElementsAre(Factors{0}, Factors{1}, Factors{2}));
}

TEST(JoinDependentTest, EmptyRowsStay) {
  EXPECT_THAT(JoinDependent({{0, 0}, {}, {1, 1}}),
              ElementsAre(Factors{0}, Factors{}, Factors{1}));
  EXPECT_THAT(JoinDependent({}), ElementsAre());
}

// The prologue of an encoder-decoder: an embedding for both, and two neighbours
// that each take two boundaries.
TEST(EndFactorsTest, BoundariesToOneNeighbourAreOneFactor) {
  const auto analysis = *segmenter::AnalyzeSample("t5_tiny", {1, 2}, {});
  space::KeyContext context;
  context.mesh = {1, 2};
  const space::ProfileSpace space = BuildProfileSpace(analysis, context);
  const auto factors =
      ListEndFactors(analysis, space, segmenter::SegmentTypeId(0),
                     space::FindPlainConfigurations(space.types[0]));
  std::vector<std::set<int>> values(factors[0].size());
  size_t combinations = 1;
  for (const Factors& row : factors) {
    for (size_t i = 0; i < row.size(); ++i) values[i].insert(row[i]);
  }
  for (const auto& it : values) combinations *= it.size();
  EXPECT_EQ(combinations, space.types[0].configurations.size());
  EXPECT_EQ(values.size(), 3);
}

}  // namespace
}  // namespace meshwright::estimation
