#include "cli/text/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/file.h"
#include "cli/flags/plan_file.h"
#include "cli/text/plan_text.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

v1::Plan SomePlan() {
  v1::Plan plan;
  plan.set_schema_version(1);
  plan.set_feasible(true);
  plan.mutable_model()->set_name("llama");
  plan.add_mesh(1);
  plan.add_mesh(2);
  plan.mutable_predicted()->set_peak_bytes(int64_t{5} << 33);
  plan.mutable_predicted()->set_step_seconds(0.25);
  for (int i = 0; i < 3; ++i) plan.add_segments()->set_describe("rows");
  return plan;
}

TEST(JsonTest, IntegersAreNumbersAndEveryFieldIsThere) {
  const auto json = ToJson(SomePlan());
  EXPECT_EQ(json["predicted"]["peak_bytes"].get<int64_t>(), int64_t{5} << 33);
  EXPECT_EQ(json["mesh"].dump(), "[1,2]");
  EXPECT_EQ(json["gap"], 0.0);
  EXPECT_TRUE(json["programs"].is_null());
  EXPECT_EQ(json.begin().key(), "schema_version");
}

// Null would read back as a field that is not set, or as 0.
TEST(JsonTest, WhatIsNotFiniteComesBack) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  v1::Plan plan = SomePlan();
  plan.set_gap(kInfinity);
  plan.set_lower_bound_seconds(-kInfinity);
  plan.mutable_segments(0)->set_seconds(std::nan(""));
  const auto json = ToJson(plan);
  EXPECT_EQ(json["gap"], "Infinity");
  EXPECT_EQ(json["segments"][0]["seconds"], "NaN");
  v1::Plan back;
  const absl::Status read = FromJson(PlanToJsonText(plan), "a plan", &back);
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(back.gap(), kInfinity);
  EXPECT_EQ(back.lower_bound_seconds(), -kInfinity);
  EXPECT_TRUE(std::isnan(back.segments(0).seconds()));
}

TEST(JsonTest, APlanComesBackFromItsFile) {
  const std::string path = testing::TempDir() + "/json_test_plan";
  ASSERT_TRUE(base::WriteFile(path, PlanToJsonText(SomePlan())).ok());
  const auto plan = LoadPlan(path);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->predicted().peak_bytes(), int64_t{5} << 33);
  EXPECT_EQ(plan->segments_size(), 3);
  EXPECT_THAT(DescribePlan(*plan), HasSubstr("0-2 "));
}

TEST(JsonTest, AnInfeasiblePlanHasNullFigures) {
  v1::Plan plan = SomePlan();
  plan.set_feasible(false);
  const auto json = nlohmann::json::parse(PlanToJsonText(plan));
  EXPECT_TRUE(json["predicted"].is_null());
  EXPECT_TRUE(json["lower_bound_seconds"].is_null());
  EXPECT_TRUE(json["gap"].is_null());
}

TEST(JsonTest, WhatIsNoPlanIsNamed) {
  const std::string path = testing::TempDir() + "/json_test_no_plan";
  for (const char* text : {"", "{", "[]", "{}", "\xff\xfe", "{\"mesh\": 7}"}) {
    ASSERT_TRUE(base::WriteFile(path, text).ok());
    const auto plan = LoadPlan(path);
    EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(plan.status().message()), HasSubstr(path));
  }
  ASSERT_TRUE(base::WriteFile(path, "{\"schema_version\": 2}").ok());
  EXPECT_EQ(LoadPlan(path).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Programs that read it would take memory for each device.
TEST(JsonTest, AMeshThatCannotBeIsRefused) {
  const std::string path = testing::TempDir() + "/json_test_mesh";
  const auto load = [&](const std::string& fields) {
    EXPECT_TRUE(
        base::WriteFile(path, "{\"schema_version\": 1, " + fields + "}").ok());
    return LoadPlan(path).status();
  };
  EXPECT_TRUE(load(R"("mesh": [1024, 1024])").ok());
  EXPECT_TRUE(load(R"("stages": [{"mesh": [1, 2]}])").ok());
  for (const char* mesh :
       {R"("mesh": [1000000000, 2])", R"("mesh": [1024, 1025])",
        R"("mesh": [0, 2])", R"("mesh": [1, -2])",
        R"("mesh": [4294967296, 4294967296])",
        R"("mesh": [2], "stages": [{"mesh": [1]}, {"mesh": [3000000]}])"}) {
    const absl::Status status = load(mesh);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << mesh;
    EXPECT_EQ(status.message(),
              path +
                  " has a mesh that is not of 1 to 1048576 devices; plan "
                  "it again");
  }
}

TEST(JsonTest, ATimeThatCannotBeIsRefused) {
  const std::string path = testing::TempDir() + "/json_test_times";
  const auto load = [&](const std::string& fields) {
    EXPECT_TRUE(
        base::WriteFile(path, "{\"schema_version\": 1, " + fields + "}").ok());
    return LoadPlan(path).status();
  };
  EXPECT_TRUE(load(R"("segments": [{"seconds": 0.5}, {}])").ok());
  for (const char* segments :
       {R"("segments": [{}, {"seconds": -1}])",
        R"("segments": [{"seconds": "NaN"}])",
        R"("segments": [{"communication_seconds": "Infinity"}])",
        R"("segments": [{"resharding_seconds": -0.5}])",
        R"("stages": [{"segments": [{"seconds": -1}]}])"}) {
    const absl::Status status = load(segments);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << segments;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(path + " has a segment whose seconds are"));
  }
}

}  // namespace
}  // namespace meshwright::cli
