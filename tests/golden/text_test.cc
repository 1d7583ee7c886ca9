// A step read from XLA's text is the step read from its proto: the same blocks,
// strategies, segments and fingerprints.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/analysis.h"

namespace meshwright {
namespace {

segmenter::Analysis AnalyzeFile(const std::string& path) {
  auto module = ir::LoadModule(*base::ReadFile(path));
  EXPECT_TRUE(module.ok()) << module.status();
  auto analysis = segmenter::Analyze(*std::move(module), {1, 2});
  EXPECT_TRUE(analysis.ok()) << analysis.status();
  return *std::move(analysis);
}

class TextTest : public testing::TestWithParam<const char*> {};

TEST_P(TextTest, AnalysesLikeItsProto) {
  const std::string stem =
      std::string("tests/testdata/text/") + GetParam() + ".hlo.";
  const segmenter::Analysis proto = AnalyzeFile(stem + "pb");
  const segmenter::Analysis text = AnalyzeFile(stem + "txt");
  ASSERT_EQ(proto.module.size(), text.module.size());
  EXPECT_EQ(proto.passes.roles, text.passes.roles);
  EXPECT_EQ(proto.blocks.owner_block, text.blocks.owner_block);
  ASSERT_EQ(proto.blocks.blocks.size(), text.blocks.blocks.size());
  for (size_t b = 0; b < proto.blocks.blocks.size(); ++b) {
    EXPECT_EQ(proto.blocks.blocks[b].roots, text.blocks.blocks[b].roots);
    EXPECT_EQ(proto.blocks.blocks[b].hash, text.blocks.blocks[b].hash);
    EXPECT_EQ(proto.strategies[b].strategies.size(),
              text.strategies[b].strategies.size());
  }
  EXPECT_EQ(proto.type_of_segment, text.type_of_segment);
  ASSERT_EQ(proto.graphs.size(), text.graphs.size());
  for (size_t s = 0; s < proto.graphs.size(); ++s) {
    EXPECT_EQ(proto.graphs[s].fingerprint, text.graphs[s].fingerprint);
  }
}

INSTANTIATE_TEST_SUITE_P(All, TextTest, testing::Values("dense", "attention"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace meshwright
