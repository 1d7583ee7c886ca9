// The promise of a plan: whatever is chosen, the annotated step computes what
// the step computes on one device. Real compiler, real runner, random plans.
#include "coordinator/export/whole_model.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/export/baselines.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "tests/integration/plan_outputs.h"
#include "tests/integration/plan_work.h"
#include "worker/sandbox/runner_process.h"

namespace meshwright {
namespace {

struct Sample {
  const char* name;
  space::Mesh mesh;
  bool open = false;  // switches and outer axes too
};

class WholeModelTest : public testing::TestWithParam<Sample> {};

int RandomPlans() { return std::getenv("MESHWRIGHT_LONG") != nullptr ? 5 : 1; }

// Data parallelism only sums gradients: a loop that gathers carries something
// whole that every trip splits.
void ExpectNoGather(const v1::Measurement& measurement) {
  for (const v1::Collective& it : measurement.collectives()) {
    EXPECT_NE(it.kind(), "all-gather") << it.bytes() << " bytes";
  }
}

TEST_P(WholeModelTest, EveryPlanGivesTheOutputsOfOneDevice) {
  const std::string bytes = segmenter::ReadSample(GetParam().name);
  const auto outputs = RunPlans(
      bytes, GetParam().mesh,
      GetParam().open ? EverythingOpen() : segmenter::StrategyRequest(),
      RandomPlans(), /*seed=*/20261121);
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
        Sample{"albert_tiny", {1, 2}}, Sample{"albert_4l", {1, 2}, true},
        Sample{"scan_tiny", {2, 2}}, Sample{"accumulate_tiny", {1, 2}},
        Sample{"accumulate_tiny", {1, 2}, true}, Sample{"unet_tiny", {1, 2}},
        Sample{"convnet_tiny", {1, 2}}, Sample{"convnet_tiny", {2, 4}}),
    [](const auto& info) {
      return std::string(info.param.name) + "_" +
             std::to_string(info.param.mesh[0]) + "x" +
             std::to_string(info.param.mesh[1]) +
             (info.param.open ? "_open" : "");
    });

// Converters to StableHLO know no copy, and hold ids in 32 bits.
TEST(AnnotatedStepTest, IdsCountFromZeroAndNothingIsCopied) {
  int constraints = 0;
  for (const char* name : {"llama_tiny", "scan_tiny", "convnet_tiny"}) {
    const auto analysis =
        segmenter::Analyze(segmenter::LoadSample(name), {1, 2});
    ASSERT_TRUE(analysis.ok()) << analysis.status();
    space::KeyContext context;
    context.mesh = {1, 2};
    const space::ProfileSpace space =
        space::BuildProfileSpace(*analysis, context);
    for (const auto& plan : exporting::MakeBaselines(*analysis, space)) {
      SCOPED_TRACE(name + (": " + plan.name));
      hlo::HloModuleProto module;
      ASSERT_TRUE(module.ParseFromString(
          exporting::MakeWholeProgram(*analysis, space, plan.choice)
              .hlo_module()));
      int64_t next = 0;
      for (const auto& computation : module.computations()) {
        for (const hlo::HloInstructionProto& it : computation.instructions()) {
          EXPECT_EQ(it.id(), next++);
          EXPECT_NE(it.opcode(), "copy");
          constraints += it.custom_call_target() == "Sharding";
        }
      }
    }
  }
  EXPECT_GT(constraints, 0);
}

struct Counted {
  const char* name;
  // Of what values that the prologue makes for many segments take.
  double tolerance = 0.01;
};

class CountedWorkTest : public testing::TestWithParam<Counted> {};

// A plan's programs send all that its step sends, and compute once what the
// step computes once.
TEST_P(CountedWorkTest, IsThatOfTheStep) {
  const auto plans = ComparePlanWork(segmenter::ReadSample(GetParam().name),
                                     {1, 2}, segmenter::StrategyRequest(),
                                     RandomPlans(), /*seed=*/20261122);
  ASSERT_TRUE(plans.ok()) << plans.status();
  EXPECT_GE(plans->size(), 3u);
  for (const PlanWork& it : *plans) {
    SCOPED_TRACE(it.plan);
    EXPECT_EQ(it.failure, "");
    const Amount sent = it.Sent();
    EXPECT_GT(sent.step, 0);
    EXPECT_NEAR(sent.parts, sent.step, GetParam().tolerance * sent.step);
    EXPECT_NEAR(it.operations.parts / it.operations.step, 1, 0.03);
    EXPECT_NEAR(it.functions.parts / it.functions.step, 1, 0.01);
    EXPECT_NEAR(it.accessed.parts / it.accessed.step, 1, 0.1);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Samples, CountedWorkTest,
    testing::Values(Counted{"t5_tiny"}, Counted{"gpt2_tiny"},
                    Counted{"albert_tiny"}, Counted{"convnet_tiny"},
                    Counted{"vit_tiny"}, Counted{"unet_tiny", 0.12}),
    [](const auto& info) { return std::string(info.param.name); });

// The gradient of a depthwise kernel in the prologue: a sum over the batch
// beside an axis that holds copies of it.
TEST(GroupedSumsInAPrologueTest, AreAddedUpOnce) {
  const auto outputs =
      RunPlans(segmenter::ScaledFeaturesText(3), {2, 2},
               segmenter::StrategyRequest(), /*random_plans=*/0, /*seed=*/0);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_GE(outputs->plans.size(), 2u);
  for (const auto& [plan, result] : outputs->plans) {
    EXPECT_EQ(result.outcome(), v1::MEASURED) << result.reason();
    EXPECT_LE(result.max_relative_difference(), 1e-4)
        << plan << ", output " << result.worst_output();
  }
}

// `max_difference`: of any output of any of the random plans, everything
// opened.
void ExpectPlansHarmless(const std::string& module, const space::Mesh& mesh,
                         bool open, int random_plans, double max_difference) {
  const auto outputs = RunPlans(
      module, mesh, open ? EverythingOpen() : segmenter::StrategyRequest(),
      random_plans, /*seed=*/1);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_GE(outputs->plans.size(), 4u);
  for (const auto& [plan, result] : outputs->plans) {
    EXPECT_EQ(result.outcome(), v1::MEASURED) << result.reason();
    EXPECT_LE(result.max_relative_difference(), max_difference)
        << plan << ", output " << result.worst_output();
  }
}

// A depthwise convolution of one tap, its groups split beside an axis of
// copies: XLA's compiler for CPUs crashes on it (annotation/grouped_sums.h).
TEST(OneTapTest, EveryPlanCompiles) {
  ExpectPlansHarmless(segmenter::DepthwiseText(1), {2, 2}, true, 8, 1e-4);
}

// Plans of which every segment is split along the sequence, where that changes
// it.
void ExpectSplitSequencesHarmless(const std::string& module,
                                  const space::Mesh& mesh) {
  segmenter::StrategyRequest request;
  request.blocks = {{"all", {"sequence"}}};
  const auto outputs =
      RunPlans(module, mesh, request, /*random_plans=*/3, /*seed=*/20261122);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_GE(outputs->plans.size(), 3u);
  for (const auto& [plan, result] : outputs->plans) {
    EXPECT_EQ(result.outcome(), v1::MEASURED) << result.reason();
    EXPECT_LE(result.max_relative_difference(), 1e-3)
        << plan << ", output " << result.worst_output();
  }
}

TEST(SplitSequencesTest, TokensAreFlattenedBetween) {
  ExpectSplitSequencesHarmless(segmenter::ScaledFeaturesText(3, true), {2, 2});
}

TEST(SplitSequencesTest, ExpertsAreBetween) {
  ExpectSplitSequencesHarmless(segmenter::ReadSample("moe_tiny"), {1, 2});
}

// Plans of one step that differ in what recomputes: data parallel, every
// segment under `which`.
class RecomputeTest : public testing::Test {
 protected:
  using Role = space::GroupRole;
  using SegmentSwitch = segmenter::SegmentSwitch;

  RecomputeTest() {
    // Unknown names change nothing: the first look finds the names.
    Build();
    for (const space::SegmentType& type : space_.types) {
      for (const space::Configuration& it : type.configurations) {
        if (it.recompute) request_.grouped.push_back(it.describe);
      }
    }
    Build();
  }

  void Build() {
    request_.switches = {SegmentSwitch::kFullySharded,
                         SegmentSwitch::kRecompute};
    const auto analysis = segmenter::AnalyzeSample("gpt2_4l", kMesh, request_);
    ASSERT_TRUE(analysis.ok()) << analysis.status();
    analysis_.emplace(*analysis);
    space::KeyContext context;
    context.mesh = kMesh;
    context.keeps_barriers = false;
    space_ = BuildProfileSpace(*analysis_, context);
    dp_ = exporting::MakeBaselines(*analysis_, space_)[0].choice;
  }

  const space::Configuration& At(int segment, int config) const {
    return space_.types[analysis_->type_of_segment[segment]]
        .configurations[config];
  }

  // The segment as dp has it, under a switch; as it was where there is none.
  int With(int segment, SegmentSwitch which, bool recompute, Role role) const {
    const auto& configurations =
        space_.types[analysis_->type_of_segment[segment]].configurations;
    for (size_t c = 0; c < configurations.size(); ++c) {
      const space::Configuration& it = configurations[c];
      if (it.splits == At(segment, dp_[segment]).splits &&
          it.segment_switch == which && it.recompute == recompute &&
          it.role == role) {
        return static_cast<int>(c);
      }
    }
    return dp_[segment];
  }

  space::SegmentChoice All(SegmentSwitch which, bool recompute) const {
    space::SegmentChoice choice;
    for (int s = 0; s < static_cast<int>(dp_.size()); ++s) {
      choice.push_back(With(s, which, recompute, {}));
    }
    return choice;
  }

  // Runs of equal segments in groups of `size`, the last one smaller.
  space::SegmentChoice InGroups(SegmentSwitch which, int size) const {
    space::SegmentChoice choice = All(which, true);
    const auto& types = analysis_->type_of_segment;
    const int count = static_cast<int>(types.size());
    for (int s = 0, at = 0; s < count; ++s) {
      at = s > 0 && types[s] == types[s - 1] ? at + 1 : 0;
      const bool is_last = s + 1 == count || types[s + 1] != types[s];
      const Role role = {at % size > 0, at % size + 1 < size && !is_last};
      choice[s] = With(s, which, true, role);
    }
    return choice;
  }

  int64_t Saved(const space::SegmentChoice& choice) const {
    int64_t bytes = 0;
    for (size_t s = 0; s < choice.size(); ++s) {
      bytes += At(static_cast<int>(s), choice[s]).saved_bytes;
    }
    return bytes;
  }

  // In order; every plan must compute what one device does.
  std::vector<v1::ProfileResult> Run(
      const std::vector<space::SegmentChoice>& choices) {
    v1::RunnerRequest request = OneRun(kMesh);
    std::set<std::string> keys;
    for (const space::SegmentChoice& it : choices) {
      *request.add_programs() =
          exporting::MakeWholeProgram(*analysis_, space_, it);
      const v1::Program& added = *request.programs().rbegin();
      EXPECT_TRUE(keys.insert(added.key()).second) << "the same step again";
    }
    EXPECT_TRUE(SetReference(segmenter::ReadSample("gpt2_4l"), request).ok());
    std::vector<v1::ProfileResult> results;
    const absl::Status status =
        worker::sandbox::RunBatch(request,
                                  [&](const v1::RunnerEvent& event) {
                                    if (event.has_result())
                                      results.push_back(event.result());
                                  },
                                  {});
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(results.size(), choices.size());
    results.resize(choices.size());
    for (const v1::ProfileResult& it : results) {
      EXPECT_EQ(it.outcome(), v1::MEASURED) << it.reason();
      EXPECT_LE(it.max_relative_difference(), 1e-3)
          << "output " << it.worst_output();
    }
    return results;
  }

  static int64_t Temporaries(const v1::ProfileResult& result) {
    return result.measurement().memory().temporary_bytes();
  }

  const space::Mesh kMesh = {1, 2};
  segmenter::StrategyRequest request_;
  std::optional<segmenter::Analysis> analysis_;
  space::ProfileSpace space_;
  space::SegmentChoice dp_;
};

// The compiler keeps the replay apart from the forward pass. How much that
// frees is up to its schedule; the CPU's holds all gradients of parameters at
// once.
TEST_F(RecomputeTest, FreesMemory) {
  const space::SegmentChoice again = All(SegmentSwitch::kNone, true);
  const int64_t freed = Saved(dp_) - Saved(again);
  ASSERT_GT(freed, 0);
  const auto results = Run({dp_, again});
  EXPECT_LT(Temporaries(results[1]), Temporaries(results[0]) - freed / 10);
}

TEST_F(RecomputeTest, GroupsKeepLessAndComputeTheSame) {
  const auto plain = SegmentSwitch::kNone;
  const auto sharded = SegmentSwitch::kFullySharded;
  const space::SegmentChoice alone = All(plain, true);
  const space::SegmentChoice pairs = InGroups(plain, 2);
  const space::SegmentChoice four = InGroups(plain, 4);
  EXPECT_LT(Saved(pairs), Saved(alone));
  EXPECT_LT(Saved(four), Saved(pairs));
  // Members that do not agree are no group: each recomputes alone.
  space::SegmentChoice broken = four;
  for (size_t s = 0; s + 1 < broken.size(); ++s) {
    if (At(static_cast<int>(s), broken[s]).role == Role{false, true}) {
      broken[s + 1] = dp_[s + 1];
    }
  }
  ASSERT_NE(broken, four);
  const auto results = Run({dp_, alone, pairs, four, broken, All(sharded, true),
                            InGroups(sharded, 2), InGroups(sharded, 4)});
  // Nor does the compiler merge groups with the forward pass.
  EXPECT_LT(Temporaries(results[2]), Temporaries(results[0]));
  EXPECT_LT(Temporaries(results[3]), Temporaries(results[0]));
  for (size_t i = 0; i < results.size(); ++i) {
    RecordProperty("temporaries " + std::to_string(i),
                   std::to_string(Temporaries(results[i])));
    RecordProperty("difference " + std::to_string(i),
                   std::to_string(results[i].max_relative_difference() * 1e9));
  }
}

}  // namespace
}  // namespace meshwright
