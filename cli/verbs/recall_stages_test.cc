// Questions to a plan with stages behind its store: `explain`, `what-if`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "cli/flags/plan_file.h"
#include "cli/local/store.h"
#include "cli/testing/outcome.h"
#include "cli/text/plan_text.h"
#include "coordinator/answers/answers.h"
#include "coordinator/explain/recall.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/segmenter/testing/test_steps.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A store in which a small step is measured on 2x2 and on 2x1.
class RecallStagesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::filesystem::remove_all(Path(""));
    std::filesystem::create_directories(Path(""));
    Make("plan", {2, 2}, 0);
    Make("devices", {2, 2}, 4e9);
    Make("narrow", {2, 1}, 0);
    // So slow a link that nothing is sent.
    Make("alone", {1, 2}, 1);
  }

  static std::string Path(const std::string& name) {
    return testing::TempDir() + "/recall_stages/" + name;
  }

  static void Make(const std::string& name, const std::vector<int64_t>& mesh,
                   double device_bandwidth) {
    auto store = OpenStore(Path("store"));
    ASSERT_TRUE(store.ok()) << store.status();
    jobs::FakeMeasurer measurer;
    measurer.machine = 11;
    v1::PlanRequest request;
    request.set_hlo_module(segmenter::ReadSample("gpt2_tiny"));
    request.set_model_name("gpt2_tiny");
    request.mutable_mesh()->mutable_shape()->Assign(mesh.begin(), mesh.end());
    v1::StageRequest& stages = *request.mutable_stages();
    stages.set_micro_batches(8);
    stages.set_host_bytes_per_second(1e9);
    stages.set_device_bytes_per_second(device_bandwidth);
    const auto plan = answers::MakePlanFunction(store->get())(
        request, &measurer, [](const v1::PlanProgress&) {});
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_TRUE(base::WriteFile(Path(name), PlanToJsonText(*plan)).ok());
  }

  static v1::Plan Loaded(const std::string& name) {
    auto plan = LoadPlan(Path(name));
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *std::move(plan);
  }

  static json Ask(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--store", Path("store"), "--json"});
    const Outcome outcome = Command(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.status == 0 ? json::parse(outcome.out) : json();
  }
};

TEST_F(RecallStagesTest, ExplainSaysWhatEachChoiceInAStageSaves) {
  const v1::Plan plan = Loaded("plan");
  const json explained = Ask({"explain", Path("plan")});
  EXPECT_FALSE(explained["waits"].is_null());
  size_t segments = 0;
  bool costlier = false;
  for (const json& choice : explained["choices"]) {
    const int stage = choice["stage"];
    ASSERT_GE(stage, 1);
    ASSERT_LE(stage, plan.stages_size());
    segments += choice["segments"].size();
    if (choice["next_best"].is_null()) continue;
    const json& next = choice["next_best"];
    EXPECT_NEAR(
        next["step_seconds"].get<double>() - next["more_seconds"].get<double>(),
        plan.stages(stage - 1).predicted().step_seconds(), 1e-11);
    costlier = costlier || next["pipeline_more_seconds"] > 0;
  }
  size_t of_plan = 0;
  for (const v1::PlanStage& it : plan.stages()) of_plan += it.segments_size();
  EXPECT_EQ(segments, of_plan);
  EXPECT_TRUE(costlier);
  const Outcome text =
      Command({"explain", Path("plan"), "--store", Path("store")});
  EXPECT_THAT(text.out, HasSubstr("time saved by each choice in its stage"));
  EXPECT_THAT(text.out, HasSubstr("\n stage 1\n"));
  EXPECT_THAT(text.out, HasSubstr("the step takes "));
}

// Its pipeline waits for nothing else.
TEST_F(RecallStagesTest, OneStagesWorkIsTheStep) {
  ASSERT_EQ(Loaded("alone").stages_size(), 1);
  int compared = 0;
  const json explained = Ask({"explain", Path("alone")});
  for (const json& choice : explained["choices"]) {
    const json& next = choice["next_best"];
    if (next.is_null()) continue;
    EXPECT_NEAR(next["pipeline_more_seconds"].get<double>(),
                next["more_seconds"].get<double>(), 1e-11);
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

TEST_F(RecallStagesTest, WithoutItsStoreAPlanIsExplainedFromItself) {
  ASSERT_TRUE(OpenStore(Path("another")).ok());
  ExpectRefused({"explain", Path("plan"), "--store", Path("another")},
                "does not hold the model");
}

TEST_F(RecallStagesTest, NothingChangedIsTheSamePlan) {
  const json same = Ask({"what-if", Path("plan")});
  EXPECT_EQ(
      same["predicted"]["step_seconds"],
      json::parse(PlanToJsonText(Loaded("plan")))["predicted"]["step_seconds"]);
  EXPECT_EQ(same["difference"]["segments"].size(), 0u);
  EXPECT_EQ(same["programs"]["profiled"], 0);
}

TEST_F(RecallStagesTest, AnotherMemoryLimitHolds) {
  const json none = Ask({"what-if", Path("plan"), "--device-memory", "1000"});
  EXPECT_EQ(none["feasible"], false);
  const int64_t limit = none["least_memory_bytes"];
  EXPECT_GT(limit, 1000);
  EXPECT_LT(limit * 9 / 10, Loaded("plan").predicted().peak_bytes());
  const json less =
      Ask({"what-if", Path("plan"), "--device-memory", absl::StrCat(limit)});
  EXPECT_EQ(less["limit_bytes"], limit);
  ASSERT_EQ(less["feasible"], true);
  EXPECT_LE(less["predicted"]["peak_bytes"], limit);
  for (const json& bytes : less["pipeline"]["peak_bytes"]) {
    EXPECT_LE(bytes, limit);
  }
}

TEST_F(RecallStagesTest, ABandwidthThatWasTheHostsFollowsIt) {
  const json faster = Ask({"what-if", Path("plan"), "--bandwidth", "3GB"});
  EXPECT_EQ(faster["pipeline"]["host_bytes_per_second"], 3e9);
  EXPECT_EQ(faster["pipeline"]["device_bytes_per_second"], 3e9);
  EXPECT_EQ(faster["pipeline"]["device_as_host"], true);
  // One that was given stays, and the host's with it.
  const json kept = Ask({"what-if", Path("devices"), "--bandwidth", "3GB"});
  EXPECT_EQ(kept["pipeline"]["host_bytes_per_second"], 3e9);
  EXPECT_EQ(kept["pipeline"]["device_bytes_per_second"], 4e9);
  const json within =
      Ask({"what-if", Path("plan"), "--device-bandwidth", "5GB"});
  EXPECT_EQ(within["pipeline"]["host_bytes_per_second"], 1e9);
  EXPECT_EQ(within["pipeline"]["device_bytes_per_second"], 5e9);
  EXPECT_EQ(within["pipeline"]["device_as_host"], false);
  // Slower links never make a shorter step, as far as ties go.
  const json slower = Ask({"what-if", Path("plan"), "--bandwidth", "1MB"});
  EXPECT_GE(slower["predicted"]["step_seconds"].get<double>() * 1.02,
            faster["predicted"]["step_seconds"].get<double>());
}

TEST_F(RecallStagesTest, AnotherClusterIsThePlanThatWasMadeThere) {
  const v1::Plan narrow = Loaded("narrow");
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--devices", "2"}, {"--mesh", "2x1"}}) {
    const json there = Ask({"what-if", Path("plan"), flags[0], flags[1]});
    EXPECT_EQ(there["mesh"], json({2, 1}));
    EXPECT_NEAR(there["predicted"]["step_seconds"].get<double>(),
                narrow.predicted().step_seconds(), 1e-11);
    EXPECT_EQ(there["stages"].size(),
              static_cast<size_t>(narrow.stages_size()));
  }
  ExpectRefused(
      {"what-if", Path("plan"), "--mesh", "4x2", "--store", Path("store")},
      "measure it with `meshwright plan --mesh 4x2 --stages`");
  ExpectRefused(
      {"what-if", Path("plan"), "--devices", "3", "--store", Path("store")},
      "no multiple");
}

}  // namespace
}  // namespace meshwright::cli
