#include "coordinator/space/configurations/segment_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::space {
namespace {

class SegmentMemoryTest : public testing::TestWithParam<std::string> {};

// What is there throughout, by the configurations of one device.
int64_t CountPersistent(const segmenter::Analysis& analysis) {
  KeyContext context;
  context.mesh = {1, 1};
  const ProfileSpace space = BuildProfileSpace(analysis, context);
  int64_t counted = 0;
  for (const segmenter::SegmentTypeId type : analysis.type_of_segment) {
    const Configuration& it = space.types[type].configurations[0];
    counted += it.persistent_bytes - it.base_bytes;
  }
  return counted;
}

int64_t CountBytesOf(const ir::Module& module,
                     const std::vector<ir::ValueId>& values) {
  int64_t bytes = 0;
  for (const ir::ValueId id : values) bytes += module.at(id).shape.byte_size();
  return bytes;
}

// State with the segment that updates it, all else with the first reader.
TEST_P(SegmentMemoryTest, EveryArgumentIsCountedOnce) {
  const auto analysis = segmenter::AnalyzeSample(GetParam(), {1, 1});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  const ir::Module& module = analysis->module;
  int64_t expected = CountBytesOf(module, module.parameters) +
                     CountBytesOf(module, module.outputs);
  for (const ir::Alias& it : module.aliases) {
    expected -= module.at(module.outputs[it.output]).shape.byte_size();
  }
  EXPECT_EQ(CountPersistent(*analysis), expected);
}

// The new state lies beside the old one.
TEST_P(SegmentMemoryTest, WithoutDonationEveryOutputCountsToo) {
  ir::Module module = segmenter::LoadSample(GetParam());
  module.aliases.clear();
  const int64_t expected = CountBytesOf(module, module.parameters) +
                           CountBytesOf(module, module.outputs);
  const auto analysis = segmenter::Analyze(std::move(module), {1, 1});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  EXPECT_EQ(CountPersistent(*analysis), expected);
}

TEST_P(SegmentMemoryTest, WhatCrossesIsAPartOfWhatIsSaved) {
  const auto analysis = segmenter::AnalyzeSample(GetParam(), {1, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  KeyContext context;
  context.mesh = {1, 2};
  const ProfileSpace space = BuildProfileSpace(*analysis, context);
  int crossing = 0;
  for (const SegmentType& type : space.types) {
    for (const Configuration& it : type.configurations) {
      EXPECT_LE(it.crossing_bytes, it.saved_bytes - it.given_bytes);
      crossing += it.crossing_bytes > 0 && it.crossing_bytes < it.saved_bytes;
    }
  }
  EXPECT_GT(crossing, 0);
}

// The gradients of rows of an embedding are added to zeros of its size.
TEST(BaseBytesTest, AreThoseOfTheEmbedding) {
  const auto analysis = segmenter::AnalyzeSample("llama_2l", {1, 1});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  KeyContext context;
  context.mesh = {1, 1};
  const ProfileSpace space = BuildProfileSpace(*analysis, context);
  const auto& first = space.types[analysis->type_of_segment[0]].configurations;
  int64_t embedding = 0;
  for (const auto& [argument, updated] : analysis->graphs[0].state) {
    embedding = std::max(
        embedding,
        analysis->module.at(analysis->graphs[0].values[argument].origin)
            .shape.byte_size());
  }
  EXPECT_GT(embedding, 0);
  EXPECT_EQ(first[0].base_bytes, embedding);
  for (const SegmentType& type : space.types) {
    for (const Configuration& it : type.configurations) {
      EXPECT_LE(it.base_bytes, it.persistent_bytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, SegmentMemoryTest,
                         testing::Values("convnet_tiny", "unet_tiny",
                                         "vit_tiny"));

}  // namespace
}  // namespace meshwright::space
