#include "cli/text/stages_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/flags/plan_file.h"
#include "cli/local/store.h"
#include "cli/testing/outcome.h"
#include "cli/text/difference_text.h"
#include "cli/text/explanation_text.h"
#include "cli/text/json.h"
#include "cli/text/plan_text.h"
#include "coordinator/explain/difference.h"
#include "coordinator/explain/pipeline_waits.h"

namespace meshwright::cli {
namespace {

using explain::ComparePlans;
using explain::FindPipelineWaits;
using testing::HasSubstr;
using testing::Not;

v1::Plan TwoStages() {
  v1::Plan plan;
  plan.set_schema_version(kPlanSchemaVersion);
  plan.set_feasible(true);
  plan.mutable_model()->set_name("toy");
  plan.add_mesh(1);
  plan.add_mesh(2);
  for (int i = 0; i < 2; ++i) {
    v1::PlanStage& stage = *plan.add_stages();
    stage.add_mesh(1);
    stage.add_mesh(1);
    stage.add_devices(i);
    stage.set_first_segment(i);
    stage.add_segments()->set_describe(i == 0 ? "rows" : "columns");
    stage.set_forward_seconds(0.001);
    stage.set_backward_input_seconds(0.001);
    stage.set_backward_weight_seconds(0.001);
    stage.set_split_estimated(i == 1);
  }
  v1::PlanBoundary& boundary = *plan.add_boundaries();
  boundary.set_within_host(true);
  boundary.mutable_forward()->set_bytes(2048);
  boundary.mutable_forward()->set_makespan_seconds(0.0005);
  boundary.mutable_forward()->set_optimal(true);
  boundary.mutable_backward()->set_optimal(true);
  v1::PlanPipeline& pipeline = *plan.mutable_pipeline();
  pipeline.set_schedule("1f1b");
  pipeline.set_micro_batches(4);
  pipeline.set_overlap(true);
  return plan;
}

TEST(StagesTextTest, ATableOfStagesAndWhatLiesBetween) {
  const std::string text = DescribePlan(TwoStages());
  EXPECT_THAT(text, HasSubstr("toy on cluster 1x2"));
  EXPECT_THAT(text, HasSubstr("pipeline 1f1b, 4 micro-batches"));
  EXPECT_THAT(
      text, HasSubstr("split into forward, backward and update is estimated"));
  EXPECT_THAT(text, HasSubstr("boundary 1-2 within a host: forward 2.0 KiB in "
                              "500.0 us, backward nothing"));
  EXPECT_THAT(text, HasSubstr("segments of stage 2\n  1  type 0  columns"));
}

TEST(StagesTextTest, TheTraceHoldsEveryOperation) {
  v1::Plan plan = TwoStages();
  const auto trace = TraceStages(plan);
  ASSERT_TRUE(trace.ok()) << trace.status();
  const auto json = nlohmann::json::parse(*trace);
  int forwards = 0;
  for (const auto& event : json["traceEvents"]) {
    const std::string name = event.value("name", "");
    forwards += event.value("ph", "") == "X" && name.starts_with("F_");
  }
  EXPECT_GE(forwards, 8);
  plan.mutable_pipeline()->set_schedule("2f2b");
  EXPECT_THAT(std::string(TraceStages(plan).status().message()),
              HasSubstr("\"2f2b\""));
  plan = TwoStages();
  plan.clear_boundaries();
  EXPECT_EQ(TraceStages(plan).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(StagesTextTest, OtherVerbsSayWhatTheyCannotTake) {
  const std::string path = testing::TempDir() + "/two_stages.json";
  ASSERT_TRUE(base::WriteFile(path, PlanToJsonText(TwoStages())).ok());
  const std::string model = "tests/testdata/llama_tiny.hlo.pb";
  ExpectRefused({"export", model, path, "-o", "x"}, "made for another model");
  const std::string store = testing::TempDir() + "/stages_text_store";
  ASSERT_TRUE(OpenStore(store).ok());
  ExpectRefused({"what-if", path, "--links", "x", "--store", store},
                "--links describes the axes of one mesh");
  ExpectRefused({"validate", model, path}, "made for another model");
  ExpectRefused({"validate", model, path, "--random", "2"},
                "random plans have no stages");
  v1::Plan plan = TwoStages();
  plan.mutable_stages(1)->clear_mesh();
  ASSERT_TRUE(base::WriteFile(path, PlanToJsonText(plan)).ok());
  ExpectRefused({"export", model, path, "-o", "x"}, "mesh");
}

// F takes 1 ms and B 2, of 4 micro-batches. The second stage waits 1.5 ms for
// F_1 and again 0.5 for F_3, which has just been made: B_4 ends at 14 ms.
TEST(StagesExplanationTest, ABoundaryAndABusyStageAddWhatTheyAdd) {
  v1::Plan plan = TwoStages();
  plan.mutable_stages(1)->set_update_seconds(0.002);
  plan.mutable_pipeline()->set_shared_seconds(0.001);
  const auto explained = FindPipelineWaits(plan);
  ASSERT_TRUE(explained.ok()) << explained.status();
  ASSERT_EQ(explained->stages_size(), 2);
  EXPECT_NEAR(explained->stages(0).busy_seconds(), 0.012, 1e-12);
  EXPECT_NEAR(explained->stages(1).busy_seconds(), 0.014, 1e-12);
  // Of 16 ms and what is shared.
  EXPECT_NEAR(explained->stages(1).idle_seconds(), 0.003, 1e-12);
  ASSERT_EQ(explained->boundary_seconds_size(), 1);
  EXPECT_NEAR(explained->boundary_seconds(0), 0.001, 1e-12);
  EXPECT_GT(explained->stages(1).tenth_saves_seconds(), 0);
  EXPECT_EQ(explained->shared_seconds(), 0.001);
  const std::string text = DescribeWaits(*explained);
  EXPECT_THAT(text, HasSubstr("2      14.0 ms"));
  EXPECT_THAT(text, HasSubstr("boundary 1-2 adds 1.0 ms"));
  EXPECT_THAT(text, HasSubstr("shared parameters add 1.0 ms to the step"));
  const std::string path = testing::TempDir() + "/explained_stages.json";
  ASSERT_TRUE(base::WriteFile(path, PlanToJsonText(plan)).ok());
  const Outcome outcome = Command({"explain", path, "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["waits"],
            nlohmann::json(ToJson(*explained)));
}

TEST(StagesDifferenceTest, SaysWhatMovedAndWhatChanged) {
  v1::Plan a = TwoStages();
  v1::Plan b = a;
  b.mutable_pipeline()->set_schedule("gpipe");
  b.mutable_stages(1)->set_mesh(1, 2);
  for (v1::Plan* plan : {&a, &b}) {
    v1::PlanArgument& argument = *plan->mutable_stages(1)->add_arguments();
    argument.set_index(7);
    argument.set_name("w");
    argument.set_sharding("[-]");
  }
  const v1::PlanDifference difference = ComparePlans(a, b);
  EXPECT_EQ(difference.reason(), "");
  ASSERT_EQ(difference.segments_size(), 1);
  EXPECT_THAT(difference.segments(0).segments(), testing::ElementsAre(1));
  EXPECT_EQ(difference.segments(0).a(), "columns on 1x1, stage 2");
  EXPECT_EQ(difference.segments(0).b(), "columns on 1x2, stage 2");
  ASSERT_EQ(difference.arguments_size(), 1);
  EXPECT_EQ(difference.arguments(0).b(), "[-] on 1x2, stage 2");
  const std::string text = DescribeDifference(a, b);
  EXPECT_THAT(text, HasSubstr("schedule  1f1b of 4, bubble 0.0 %  ->  gpipe"));
  EXPECT_THAT(text, HasSubstr("  2  1 on 1x1"));
  EXPECT_THAT(text, HasSubstr("->  1 on 1x2"));
  const auto json = DifferenceToJson(a, b);
  EXPECT_EQ(json["b"]["pipeline"]["schedule"], "gpipe");
  EXPECT_EQ(json["b"]["stages"][1]["first_segment"], 1);
  EXPECT_EQ(ComparePlans(a, a).segments_size(), 0);
}

// A plan of one mesh is one stage on all of it.
TEST(StagesDifferenceTest, OneMeshAgainstStages) {
  v1::Plan one = TwoStages();
  for (const char* describe : {"rows", "columns"}) {
    one.add_segments()->set_describe(describe);
  }
  one.clear_stages();
  one.clear_boundaries();
  one.clear_pipeline();
  const v1::PlanDifference difference = ComparePlans(one, TwoStages());
  EXPECT_EQ(difference.reason(), "");
  EXPECT_EQ(difference.segments_size(), 2);
  EXPECT_THAT(DescribeDifference(one, TwoStages()),
              HasSubstr("schedule  one mesh  ->  1f1b of 4"));
}

void AddOutput(int index, const char* sharding,
               google::protobuf::RepeatedPtrField<v1::PlanArgument>* outputs) {
  v1::PlanArgument& output = *outputs->Add();
  output.set_index(index);
  output.set_sharding(sharding);
}

// No segment makes the second output, such as a step count.
TEST(StagesDifferenceTest, OutputsAreJoinedByTheirNumbers) {
  v1::Plan staged = TwoStages();
  v1::Plan one = staged;
  for (const char* describe : {"rows", "columns"}) {
    one.add_segments()->set_describe(describe);
  }
  one.clear_stages();
  one.clear_boundaries();
  one.clear_pipeline();
  AddOutput(0, "[-]", one.mutable_outputs());
  AddOutput(1, "[]", one.mutable_outputs());
  AddOutput(2, "[-]", one.mutable_outputs());
  AddOutput(0, "[-]", staged.mutable_stages(1)->mutable_outputs());
  AddOutput(2, "[-]", staged.mutable_stages(1)->mutable_outputs());
  const v1::PlanDifference difference = ComparePlans(one, staged);
  EXPECT_EQ(difference.reason(), "");
  ASSERT_EQ(difference.outputs_size(), 1);
  EXPECT_EQ(difference.outputs(0).a(), "[-]");
  EXPECT_EQ(difference.outputs(0).b(), "[-] on 1x1, stage 2");
  EXPECT_THAT(difference.outputs(0).names(), testing::ElementsAre("0", "2"));
  EXPECT_EQ(ComparePlans(staged, one).outputs_size(), 1);
}

TEST(StagesTextTest, APlanWithoutStagesSaysNothingOfThem) {
  v1::Plan plan;
  plan.set_feasible(true);
  EXPECT_THAT(PlanToJsonText(plan), Not(HasSubstr("stages")));
  EXPECT_THAT(PlanToJsonText(plan), Not(HasSubstr("pipeline")));
  EXPECT_THAT(PlanToJsonText(TwoStages()), HasSubstr("\"boundaries\""));
}

TEST(StageFlagsTest, SayWhatIsWrong) {
  const std::vector<std::string> plan = {
      "plan", "tests/testdata/llama_tiny.hlo.pb", "--mesh", "2x2"};
  const auto refused = [&](const std::vector<std::string>& more,
                           const std::string& words) {
    std::vector<std::string> arguments = plan;
    arguments.insert(arguments.end(), more.begin(), more.end());
    ExpectRefused(arguments, words);
  };
  refused({"--micro-batches", "4"}, "--stages");
  refused({"--stages", "--micro-batches", "0"}, "--micro-batches is 0");
  refused({"--stages", "--micro-batches", "-2"}, "--micro-batches is -2");
  refused({"--stages", "--bandwidth", "fast"}, "--bandwidth");
  refused({"--stages", "--symbolic"}, "--symbolic");
}

}  // namespace
}  // namespace meshwright::cli
