// The promise of a plan: whatever is chosen, the annotated step computes what
// the step computes on one device. Real compiler, real runner, random plans.
#include "coordinator/export/whole_model.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "coordinator/export/baselines.h"
#include "tests/integration/plan_outputs.h"
#include "worker/runner/runner_process.h"

namespace meshwright {
namespace {

struct Sample {
  const char* name;
  space::Mesh mesh;
  bool open = false;  // switches and outer axes too
};

class WholeModelTest : public testing::TestWithParam<Sample> {};

// Data parallelism only sums gradients: a loop that gathers carries something
// whole that every trip splits.
void ExpectNoGather(const v1::Measurement& measurement) {
  for (const v1::Collective& it : measurement.collectives()) {
    EXPECT_NE(it.kind(), "all-gather") << it.bytes() << " bytes";
  }
}

TEST_P(WholeModelTest, EveryPlanGivesTheOutputsOfOneDevice) {
  const std::string bytes = *base::ReadFile(std::string("tests/testdata/") +
                                            GetParam().name + ".hlo.pb");
  const auto outputs = RunPlans(
      bytes, GetParam().mesh,
      GetParam().open ? EverythingOpen() : segmenter::StrategyRequest(),
      /*random_plans=*/3, /*seed=*/20261121);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  const ir::Module& module = outputs->analysis.module;
  EXPECT_GE(outputs->plans.size(), 3u);
  for (const auto& [plan, result] : outputs->plans) {
    EXPECT_EQ(result.outcome(), v1::MEASURED) << result.reason();
    EXPECT_LE(result.max_relative_difference(), 1e-3)
        << plan << ", output " << result.worst_output();
    if (plan == "dp" && !module.loops.empty()) {
      ExpectNoGather(result.measurement());
    }
    EXPECT_EQ(result.output_relative_differences_size(),
              static_cast<int>(module.outputs.size()));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, WholeModelTest,
    testing::Values(
        Sample{"llama_tiny", {1, 2}}, Sample{"gpt2_tiny", {1, 2}},
        Sample{"bert_tiny", {1, 2}}, Sample{"moe_tiny", {1, 2}},
        Sample{"llama_tiny", {2, 2}}, Sample{"gpt2_tiny", {1, 2}, true},
        Sample{"llama_tiny", {2, 2}, true}, Sample{"moe_tiny", {1, 4}},
        Sample{"t5_tiny", {1, 2}}, Sample{"vit_tiny", {1, 2}},
        Sample{"albert_tiny", {1, 2}}, Sample{"scan_tiny", {2, 2}},
        Sample{"accumulate_tiny", {1, 2}},
        Sample{"accumulate_tiny", {1, 2}, true}, Sample{"unet_tiny", {1, 2}},
        Sample{"convnet_tiny", {1, 2}}, Sample{"convnet_tiny", {2, 4}}),
    [](const auto& info) {
      return std::string(info.param.name) + "_" +
             std::to_string(info.param.mesh[0]) + "x" +
             std::to_string(info.param.mesh[1]) +
             (info.param.open ? "_open" : "");
    });

// The compiler keeps the replay apart from the forward pass. How much that
// frees is up to its schedule; the CPU's holds all gradients of parameters at
// once.
TEST(RecomputeTest, FreesMemory) {
  const space::Mesh mesh = {1, 2};
  segmenter::StrategyRequest open;
  open.switches = {segmenter::SegmentSwitch::kRecompute};
  const auto analysis = segmenter::Analyze(
      *ir::LoadModule(*base::ReadFile("tests/testdata/gpt2_4l.hlo.pb")), mesh,
      open);
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  space::KeyContext context;
  context.mesh = mesh;
  context.keeps_barriers = false;
  const space::ProfileSpace space = BuildProfileSpace(*analysis, context);
  const exporting::SegmentChoice dp =
      exporting::Baselines(*analysis, space)[0].choice;
  exporting::SegmentChoice again = dp;
  int64_t freed = 0;
  for (size_t s = 0; s < dp.size(); ++s) {
    const auto& configurations =
        space.types[analysis->type_of_segment[s]].configurations;
    for (size_t c = 0; c < configurations.size(); ++c) {
      if (!configurations[c].recompute ||
          configurations[c].splits != configurations[dp[s]].splits) {
        continue;
      }
      again[s] = static_cast<int>(c);
      freed +=
          configurations[dp[s]].saved_bytes - configurations[c].saved_bytes;
    }
  }
  ASSERT_GT(freed, 0);
  v1::RunnerRequest request = OneRun(mesh);
  *request.add_programs() = exporting::WholeProgram(*analysis, space, dp);
  *request.add_programs() = exporting::WholeProgram(*analysis, space, again);
  std::vector<int64_t> temporary;
  const absl::Status status = worker::runner::RunBatch(
      request,
      [&](const v1::RunnerEvent& event) {
        if (!event.has_result()) return;
        temporary.push_back(
            event.result().measurement().memory().temporary_bytes());
      },
      {});
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(temporary.size(), 2u);
  EXPECT_LT(temporary[1], temporary[0] - freed / 10);
}

}  // namespace
}  // namespace meshwright
