#include "cli/stages_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/outcome.h"
#include "cli/plan_file.h"

namespace meshwright::cli {
namespace {

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
  EXPECT_THAT(text, HasSubstr("how the time splits is estimated"));
  EXPECT_THAT(text, HasSubstr("boundary 1-2 within a host: forward 2.0 KiB in "
                              "500.0 us, backward nothing"));
  EXPECT_THAT(text,
              HasSubstr("segments of stage 2\n  1       type 0  columns"));
}

TEST(StagesTextTest, TheTraceHoldsEveryOperation) {
  v1::Plan plan = TwoStages();
  const auto trace = StagesTrace(plan);
  ASSERT_TRUE(trace.ok()) << trace.status();
  const auto json = nlohmann::json::parse(*trace);
  int forwards = 0;
  for (const auto& event : json["traceEvents"]) {
    const std::string name = event.value("name", "");
    forwards += event.value("ph", "") == "X" && name.starts_with("F_");
  }
  EXPECT_GE(forwards, 8);
  plan.mutable_pipeline()->set_schedule("2f2b");
  EXPECT_THAT(std::string(StagesTrace(plan).status().message()),
              HasSubstr("\"2f2b\""));
  plan = TwoStages();
  plan.clear_boundaries();
  EXPECT_EQ(StagesTrace(plan).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(StagesTextTest, OtherVerbsTakeOneMesh) {
  const std::string path = testing::TempDir() + "/two_stages.json";
  ASSERT_TRUE(base::WriteFile(path, PlanJson(TwoStages())).ok());
  const std::string model = "tests/testdata/llama_tiny.hlo.pb";
  ExpectRefused({"export", model, path, "-o", "x"}, "is a plan of 2 stages");
  ExpectRefused({"explain", path}, "`explain` takes one of a single mesh");
  ExpectRefused({"what-if", path}, "is a plan of 2 stages");
  ExpectRefused({"diff", path, path}, "is a plan of 2 stages");
  ExpectRefused({"validate", model, path}, "is a plan of 2 stages");
}

TEST(StagesTextTest, APlanWithoutStagesSaysNothingOfThem) {
  v1::Plan plan;
  plan.set_feasible(true);
  EXPECT_THAT(PlanJson(plan), Not(HasSubstr("stages")));
  EXPECT_THAT(PlanJson(plan), Not(HasSubstr("pipeline")));
  EXPECT_THAT(PlanJson(TwoStages()), HasSubstr("\"boundaries\""));
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
