// Golden tables of real training steps: blocks, strategies, segments and the
// number of programs, on one screen each.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"
#include "tests/golden/golden.h"

namespace meshwright {
namespace {

struct Case {
  const char* model;
  space::Mesh mesh;
};

std::string Strategies(const segmenter::StrategySet& set) {
  std::string text = absl::StrJoin(
      set.strategies, " ", [](std::string* out, const auto& strategy) {
        absl::StrAppend(out, segmenter::NameStrategy(strategy.kind));
      });
  return absl::StrCat(text, LostStrategies(set));
}

std::string Table(const segmenter::Analysis& analysis,
                  const space::ProfileSpace& space) {
  std::string text = "block  roots  contractions  operators  strategies\n";
  for (size_t b = 0; b < analysis.blocks.blocks.size(); ++b) {
    const segmenter::ParallelBlock& block = analysis.blocks.blocks[b];
    absl::StrAppendFormat(&text, "%5d  %5d  %12d  %9d  %s\n", b,
                          block.roots.size(), block.contractions.size(),
                          block.operators, Strategies(analysis.strategies[b]));
  }
  absl::StrAppend(&text,
                  "\nsegment  type  blocks  inputs  operations  outputs  state"
                  "  entries  exits\n");
  for (size_t s = 0; s < analysis.graphs.size(); ++s) {
    const segmenter::Segment& segment = analysis.plan.segments[s];
    const segmenter::SegmentGraph& graph = analysis.graphs[s];
    absl::StrAppendFormat(
        &text, "%7d  %4d  %2d..%-2d  %6d  %10d  %7d  %5d  %7d  %5d\n", s,
        analysis.type_of_segment[s].value(), segment.first_block,
        segment.last_block, graph.input_count,
        graph.values.size() - graph.input_count, graph.outputs.size(),
        graph.state.size(), graph.entries.size(), graph.exits.size());
  }
  absl::StrAppendFormat(
      &text, "\nprograms: %d of segments, %d of resharding, %d distinct\n",
      space.segment_programs, space.resharding_programs, space.programs.size());
  return text;
}

class AnalysisGoldenTest : public testing::TestWithParam<Case> {};

TEST_P(AnalysisGoldenTest, TheTableIsTheExpectedOne) {
  const std::string name =
      absl::StrCat(GetParam().model, "_", absl::StrJoin(GetParam().mesh, "x"));
  const auto analysis =
      segmenter::AnalyzeSample(GetParam().model, GetParam().mesh);
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  space::KeyContext context;
  context.mesh = GetParam().mesh;
  const std::string table =
      Table(*analysis, BuildProfileSpace(*analysis, context));
  ExpectGolden(absl::StrCat("tests/golden/", name, ".txt"), table);
}

INSTANTIATE_TEST_SUITE_P(
    All, AnalysisGoldenTest,
    testing::Values(Case{"llama_tiny", {1, 2}}, Case{"gpt2_tiny", {1, 2}},
                    Case{"bert_tiny", {1, 2}}, Case{"moe_tiny", {1, 2}},
                    Case{"llama_tiny", {1, 3}}),
    [](const auto& info) {
      return absl::StrCat(info.param.model, "_",
                          absl::StrJoin(info.param.mesh, "x"));
    });

}  // namespace
}  // namespace meshwright
