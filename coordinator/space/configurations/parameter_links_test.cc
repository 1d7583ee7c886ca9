#include "coordinator/space/configurations/parameter_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::space {
namespace {

using segmenter::SegmentIndex;
using ::testing::IsEmpty;

// ALBERT: an embedding that the head shares, and layers that share all weights.
class ParameterLinksTest : public testing::Test {
 protected:
  static constexpr SegmentIndex kEmbedding{0};
  static constexpr SegmentIndex kHead{5};

  void Read(const std::string& name, segmenter::StrategyRequest request = {}) {
    const Mesh mesh = {1, 2};
    analysis_ = *segmenter::AnalyzeSample(name, mesh, std::move(request));
    KeyContext context;
    context.mesh = mesh;
    space_ = BuildProfileSpace(analysis_, context);
  }

  const SegmentType& GetType(SegmentIndex segment) const {
    return space_.types[analysis_.type_of_segment[segment]];
  }

  // Configurations of `from` that no one of `to` agrees with.
  int Alone(const ParameterLink& link, bool from) const {
    const auto& own =
        GetType(from ? link.from_segment : link.to_segment).configurations;
    const auto& others =
        GetType(from ? link.to_segment : link.from_segment).configurations;
    int alone = 0;
    for (int a = 0; a < static_cast<int>(own.size()); ++a) {
      bool agrees = false;
      for (int b = 0; b < static_cast<int>(others.size()); ++b) {
        agrees |=
            SplitAlike(analysis_, space_, link, from ? a : b, from ? b : a);
      }
      alone += !agrees;
    }
    return alone;
  }

  segmenter::Analysis analysis_;
  ProfileSpace space_;
};

TEST_F(ParameterLinksTest, ReadersAreAChain) {
  Read("albert_4l");
  std::vector<std::pair<int, int>> pairs;
  for (const ParameterLink& link : space_.links) {
    pairs.emplace_back(link.from_segment, link.to_segment);
    for (const auto& [from, to] : link.values) {
      EXPECT_EQ(analysis_.graphs[link.from_segment].values[from].origin,
                analysis_.graphs[link.to_segment].values[to].origin);
    }
  }
  EXPECT_THAT(pairs, testing::ElementsAre(
                         std::pair<int, int>(kEmbedding, kHead),
                         std::pair(1, 2), std::pair(2, 3), std::pair(3, 4)));
}

TEST_F(ParameterLinksTest, StepsThatShareNothingHaveNone) {
  // RegNet's cuts part a norm's scale from its gradient: a vector.
  for (const char* name : {"llama_tiny", "gpt2_tiny", "t5_tiny", "moe_tiny",
                           "unet_tiny", "convnet_tiny"}) {
    Read(name);
    EXPECT_THAT(space_.links, IsEmpty()) << name;
  }
}

TEST_F(ParameterLinksTest, WhateverOneReaderTakesTheOtherCan) {
  segmenter::StrategyRequest request;
  request.switches = {segmenter::SegmentSwitch::kFullySharded};
  for (const bool open : {false, true}) {
    Read("albert_4l", open ? request : segmenter::StrategyRequest());
    for (const ParameterLink& link : space_.links) {
      EXPECT_EQ(Alone(link, true), 0) << link.from_segment;
      EXPECT_EQ(Alone(link, false), 0) << link.to_segment;
    }
  }
}

// Every strategy of the embedding, with every split that the head wants.
TEST_F(ParameterLinksTest, ASmallSegmentIsWidened) {
  Read("albert_4l");
  std::set<std::pair<std::vector<int>, Sharding>> pairs;
  const auto link = std::find_if(
      space_.links.begin(), space_.links.end(),
      [](const ParameterLink& it) { return it.to_segment == kHead; });
  ASSERT_NE(link, space_.links.end());
  std::set<std::string> names;
  for (const Configuration& it : GetType(kEmbedding).configurations) {
    EXPECT_TRUE(names.insert(it.describe).second) << it.describe;
    pairs.emplace(it.strategies, GetSplits(analysis_, kEmbedding, it,
                                           {link->values[0].from_value},
                                           space_.context.mesh)[0]);
  }
  EXPECT_EQ(pairs.size(), 9u);
  EXPECT_EQ(GetType(kEmbedding).configurations.size(), 9u);
  EXPECT_EQ(GetType(kHead).configurations.size(), 9u);
}

// One layer by columns, another by rows: no weight can be both.
TEST_F(ParameterLinksTest, WhatARequestPinsApartIsNotLinked) {
  segmenter::StrategyRequest request;
  request.blocks = {{"1", {"rows"}}, {"5", {"columns"}}};
  Read("albert_4l", request);
  ASSERT_EQ(space_.links.size(), 1u);
  EXPECT_EQ(space_.links[0].to_segment, kHead);
}

}  // namespace
}  // namespace meshwright::space
