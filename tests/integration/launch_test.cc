// Steps cut into stages and run for real on virtual CPU devices: the modules of
// a launch, tensors handed from stage to stage, against one device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/launch/make_launch.h"
#include "coordinator/launch/sequence.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/stages/crossings.h"
#include "planner/pipeline/orders.h"
#include "tests/integration/plan_outputs.h"
#include "worker/sandbox/runner_process.h"

namespace meshwright::integration {
namespace {

using segmenter::Analysis;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::Not;

struct Pipeline {
  std::string sample;
  std::vector<space::Mesh> meshes;  // of the stages
  int micro_batches = 1;
  pipeline::Schedule schedule = pipeline::Schedule::k1F1B;
  segmenter::StrategyRequest strategies;
};

// First segments of so many stages, as even as cuts are possible.
std::vector<int> CutEvenly(const Analysis& analysis, int stages) {
  const auto cuts = stages::FindCuts(analysis, stages::FindPasses(analysis), 1);
  const int segments = static_cast<int>(analysis.graphs.size());
  std::vector<int> first = {0};
  for (int stage = 1; stage < stages; ++stage) {
    int at = std::max(first.back() + 1, stage * segments / stages);
    while (at < segments && !cuts[at - 1].possible) ++at;
    if (at < segments) first.push_back(at);
  }
  return first;
}

// Configurations are drawn at random.
void FillStage(const Analysis& analysis, int first, int end,
               std::mt19937_64& random, v1::PlanStage& stage) {
  const auto here = segmenter::OnMesh(
      analysis, space::Mesh(stage.mesh().begin(), stage.mesh().end()));
  ASSERT_TRUE(here.ok()) << here.status();
  space::KeyContext context;
  context.mesh = here->mesh;
  context.keeps_barriers = false;
  const auto space = space::BuildProfileSpace(*here, context);
  space::SegmentChoice choice;
  for (const int type : here->type_of_segment) {
    const auto& configurations = space.types[type].configurations;
    int drawn = 0;
    do {
      drawn = static_cast<int>(random() % configurations.size());
    } while (configurations[drawn].role.InGroup());
    choice.push_back(drawn);
  }
  v1::Plan described;
  exporting::DescribeSegments(*here, space, choice, &described);
  stage.set_first_segment(first);
  for (int s = first; s < end; ++s) {
    *stage.add_segments() = described.segments(s);
  }
}

v1::Plan MakePlan(const Pipeline& pipeline, const Analysis& analysis,
                  uint64_t seed) {
  v1::Plan plan;
  plan.set_feasible(true);
  plan.set_device("cpu test");
  for (const int64_t size : analysis.mesh) plan.add_mesh(size);
  if (!pipeline.strategies.switches.empty()) {
    plan.mutable_strategies()->add_open("recompute");
  }
  std::mt19937_64 random(seed);
  const std::vector<int> first =
      CutEvenly(analysis, static_cast<int>(pipeline.meshes.size()));
  for (size_t i = 0; i < first.size(); ++i) {
    v1::PlanStage& stage = *plan.add_stages();
    for (const int64_t size : pipeline.meshes[i]) stage.add_mesh(size);
    const int end = i + 1 < first.size()
                        ? first[i + 1]
                        : static_cast<int>(analysis.graphs.size());
    FillStage(analysis, first[i], end, random, stage);
  }
  plan.mutable_pipeline()->set_micro_batches(pipeline.micro_batches);
  for (const auto& order :
       pipeline::MakeOrders(pipeline.schedule, static_cast<int>(first.size()),
                            pipeline.micro_batches)) {
    v1::PlanStageOrder& operations = *plan.mutable_pipeline()->add_order();
    for (const auto& operation : order) {
      operations.add_operations(pipeline::Name(operation));
    }
    // Gradients of weights that wait do so to the end.
    for (const auto& operation : order) {
      if (operation.kind != pipeline::OperationKind::kBackwardInput) continue;
      operations.add_operations(absl::StrCat("BW_", operation.micro_batch));
    }
  }
  return plan;
}

// How the results of its sequences differ, one by one.
absl::StatusOr<std::vector<double>> Compared(const v1::RunnerRequest& request) {
  std::vector<double> differences;
  std::string failures;
  const absl::Status status = worker::sandbox::RunBatch(
      request,
      [&](const v1::RunnerEvent& event) {
        if (event.has_result() && event.result().outcome() != v1::MEASURED) {
          failures += event.result().reason() + "; ";
        }
        const auto& all = event.compared().relative_differences();
        if (event.has_compared()) differences.assign(all.begin(), all.end());
      },
      {});
  if (!status.ok()) {
    return absl::InternalError(std::string(status.message()) + ": " + failures);
  }
  return differences;
}

// How the results differ from one device's, one by one.
absl::StatusOr<std::vector<double>> MeasureDifferences(const Pipeline& pipeline,
                                                       uint64_t seed) {
  ASSIGN_OR_RETURN(
      const Analysis analysis,
      segmenter::AnalyzeSample(pipeline.sample, {2, 2}, pipeline.strategies));
  const v1::Plan plan = MakePlan(pipeline, analysis, seed);
  EXPECT_EQ(plan.stages_size(), static_cast<int>(pipeline.meshes.size()));
  const std::string model = segmenter::ReadSample(pipeline.sample);
  ASSIGN_OR_RETURN(const launch::Launch launch,
                   launch::MakeLaunch(model, plan));
  v1::RunnerRequest request = OneRun({2, 2});
  *request.mutable_sequence() = launch::AddSequence(launch, 0, request);
  if (pipeline.micro_batches == 1) {
    ASSIGN_OR_RETURN(*request.mutable_reference_sequence(),
                     launch::AddWholeStep(model, launch, 0, request));
  } else {
    ASSIGN_OR_RETURN(const launch::Launch single,
                     launch::MakeUnsharded(model, plan));
    *request.mutable_reference_sequence() =
        launch::AddSequence(single, 0, request);
  }
  return Compared(request);
}

void ExpectEqual(const Pipeline& pipeline, uint64_t seed) {
  SCOPED_TRACE(pipeline.sample);
  const auto differences = MeasureDifferences(pipeline, seed);
  ASSERT_TRUE(differences.ok()) << differences.status();
  EXPECT_THAT(*differences, Not(IsEmpty()));
  EXPECT_THAT(*differences, Each(Lt(1e-3)));
}

TEST(LaunchTest, AStepInStagesIsTheStep) {
  for (const char* sample : {"gpt2_tiny", "convnet_tiny", "unet_tiny",
                             "t5_tiny", "albert_tiny", "moe_tiny"}) {
    ExpectEqual({sample, {{1, 2}, {1, 2}}}, 1);
  }
}

TEST(LaunchTest, GradientsOfMicroBatchesAddUp) {
  ExpectEqual({"gpt2_tiny", {{1, 2}, {1, 1}}, 3}, 2);
  ExpectEqual({"unet_tiny", {{1, 1}, {1, 2}}, 2, pipeline::Schedule::kGpipe},
              3);
}

// Two layers, the loss the sum of squares, plain gradient descent: the loss and
// gradients of micro-batch `m`.
std::string MicroBatchText(const std::string& m) {
  const std::string text = R"(
  hM = f32[4,8] dot(xM, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  yM = f32[4,8] dot(hM, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  squareM = f32[4,8] multiply(yM, yM)
  lossM = f32[] reduce(squareM, zero), dimensions={0,1}, to_apply=sum
  dyM = f32[4,8] multiply(yM, twos)
  dqM = f32[8,8] dot(hM, dyM), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  dhM = f32[4,8] dot(dyM, q), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  dpM = f32[8,8] dot(xM, dhM), lhs_contracting_dims={0}, rhs_contracting_dims={0}
)";
  return absl::StrReplaceAll(text, {{"M", m}});
}

// `micro_batches` is 1 or 2.
std::string DescentText(int micro_batches) {
  const bool two = micro_batches == 2;
  std::string text = R"(
HloModule descent, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }
sum {
  left = f32[] parameter(0)
  right = f32[] parameter(1)
  ROOT add = f32[] add(left, right)
}
ENTRY main {
  p = f32[8,8] parameter(0)
  q = f32[8,8] parameter(1)
  x0 = f32[4,8] parameter(2)
  zero = f32[] constant(0)
  two = f32[] constant(2)
  twos = f32[4,8] broadcast(two), dimensions={}
  rate = f32[] constant(0.01)
  rates = f32[8,8] broadcast(rate), dimensions={}
)";
  if (two) text += "  x1 = f32[4,8] parameter(3)\n";
  for (int m = 0; m < micro_batches; ++m) {
    text += MicroBatchText(absl::StrCat(m));
  }
  if (two) {
    text += "  dp = f32[8,8] add(dp0, dp1)\n  dq = f32[8,8] add(dq0, dq1)\n";
  }
  text += absl::StrReplaceAll(
      R"(
  step_p = f32[8,8] multiply(DP, rates)
  step_q = f32[8,8] multiply(DQ, rates)
  new_p = f32[8,8] subtract(p, step_p)
  new_q = f32[8,8] subtract(q, step_q)
)",
      {{"DP", two ? "dp" : "dp0"}, {"DQ", two ? "dq" : "dq0"}});
  return text + (two ? "  ROOT out = (f32[8,8], f32[8,8], f32[], f32[]) "
                       "tuple(new_p, new_q, loss0, loss1)\n}\n"
                     : "  ROOT out = (f32[8,8], f32[8,8], f32[]) "
                       "tuple(new_p, new_q, loss0)\n}\n");
}

Analysis AnalyzeText(const std::string& model) {
  auto module = ir::LoadModule(model);
  EXPECT_TRUE(module.ok()) << module.status();
  auto analysis = segmenter::Analyze(*std::move(module), {2, 2});
  EXPECT_TRUE(analysis.ok()) << analysis.status();
  return *std::move(analysis);
}

// Against a step that was written for both micro-batches by hand.
TEST(LaunchTest, TwoMicroBatchesAreTheStepOfBoth) {
  const std::string model = DescentText(1);
  const Analysis analysis = AnalyzeText(model);
  const v1::Plan plan =
      MakePlan({"", {{1, 2}, {1, 2}}, 2}, analysis, /*seed=*/8);
  const auto launch = launch::MakeLaunch(model, plan);
  ASSERT_TRUE(launch.ok()) << launch.status();
  v1::RunnerRequest request = OneRun({2, 2});
  *request.mutable_sequence() = launch::AddSequence(*launch, 0, request);
  v1::Program& both = *request.add_programs();
  both.set_key("both");
  both.set_num_partitions(1);
  const auto written = ir::ParseModule(DescentText(2));
  ASSERT_TRUE(written.ok()) << written.status();
  both.set_hlo_module(written->SerializeAsString());
  v1::Sequence& reference = *request.mutable_reference_sequence();
  v1::Sequence::Call& call = *reference.add_calls();
  call.set_program(request.programs_size() - 1);
  for (const launch::LaunchInput& it : launch->inputs) {
    if (!it.argument.has_value()) continue;  // zeros
    const int parameter = *it.argument + it.micro_batch;
    for (const auto& value : request.sequence().values()) {
      if (value.slot() != it.slot) continue;
      *reference.add_values() = value;
      reference.mutable_values(reference.values_size() - 1)
          ->set_slot(parameter);
    }
  }
  for (int slot = 0; slot < 4; ++slot) {
    both.add_inputs();
    call.add_inputs(slot);
    call.add_outputs(4 + slot);
    reference.add_results(4 + slot);
  }
  const auto differences = Compared(request);
  ASSERT_TRUE(differences.ok()) << differences.status();
  EXPECT_EQ(differences->size(), 4u);
  EXPECT_THAT(*differences, Each(Lt(1e-5)));
}

TEST(LaunchTest, DelayedGradientsOfWeightsAreModulesOfTheirOwn) {
  ExpectEqual(
      {"llama_tiny", {{1, 1}, {1, 2}}, 2, pipeline::Schedule::kEager1F1BDelay},
      4);
}

TEST(LaunchTest, RecomputesFromWhatIsKept) {
  Pipeline pipeline{"bert_tiny", {{1, 2}, {1, 2}}, 1};
  pipeline.strategies.switches = {segmenter::SegmentSwitch::kRecompute};
  ExpectEqual(pipeline, 5);
}

TEST(LaunchTest, KeepsALoopOverLayersInOneStage) {
  ExpectEqual({"scan_tiny", {{1, 2}, {1, 1}}, 2}, 6);
}

// Clipping by the norm over all gradients: the update waits for what other
// stages' updates make, in rounds.
TEST(LaunchTest, UpdatesInRoundsWhereAllGradientsHaveOneNorm) {
  const auto analysis = segmenter::AnalyzeSample("clip_tiny", {2, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  for (const int micro_batches : {1, 3}) {
    const Pipeline pipeline{"clip_tiny", {{1, 2}, {1, 1}}, micro_batches};
    const auto launch =
        launch::MakeLaunch(segmenter::ReadSample(pipeline.sample),
                           MakePlan(pipeline, *analysis, /*seed=*/9));
    ASSERT_TRUE(launch.ok()) << launch.status();
    int rounds = 0;
    for (const launch::LaunchModule& module : launch->modules) {
      rounds = std::max(rounds, module.place.round + 1);
    }
    EXPECT_GT(rounds, 1);
    ExpectEqual(pipeline, 9);
  }
}

TEST(LaunchTest, RefusesALoopOverMicroBatches) {
  const auto differences =
      MeasureDifferences({"accumulate_tiny", {{1, 1}, {1, 1}}, 1}, 7);
  EXPECT_EQ(differences.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(differences.status().message()),
              HasSubstr("loop of its own"));
}

}  // namespace
}  // namespace meshwright::integration
