#include "planner/pipeline/pipeline_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace meshwright::pipeline {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json Stage1() {
  return {{"forward_seconds", 0.001},
          {"backward_input_seconds", 0.0015},
          {"backward_weight_seconds", 0.0005},
          {"activation_bytes", 100},
          {"persistent_bytes", 1000}};
}

json Document() {
  return {{"stages", {Stage1(), Stage1()}},
          {"transfers",
           {{{"forward_seconds", 0.0001}, {"backward_seconds", 0.0002}}}},
          {"micro_batches", 4},
          {"overlap", true}};
}

json Segments() {
  json stage = Stage1();
  json half = Stage1();
  half["forward_seconds"] = 0.0006;
  return {{"meshes", {{{"devices", 1}}, {{"devices", 2}, {"name", "1x2"}}}},
          {"segments",
           {{{"on", {stage, half}}},
            {{"on", {nullptr, half}}},
            {{"on", {stage, nullptr}}}}},
          {"boundaries",
           {{{"forward_seconds", 0}, {"backward_seconds", 0}},
            {{"forward_seconds", 1e-5}, {"backward_seconds", 1e-5}}}},
          {"devices", 4},
          {"micro_batches", 8},
          {"overlap", true}};
}

json Answered(const json& document) {
  const auto file = ParseFile(document.dump());
  EXPECT_TRUE(file.ok()) << file.status();
  const auto answer = Answer(*file);
  EXPECT_TRUE(answer.ok()) << answer.status();
  return json::parse(AnswerToJson(*answer));
}

TEST(PipelineJsonTest, OneScheduleAskedFor) {
  json document = Document();
  document["schedule"] = "1f1b";
  const json answer = Answered(document);
  EXPECT_EQ(answer["feasible"], true);
  EXPECT_EQ(answer["schedule"], "1f1b");
  // (m + s - 1)(f + b) + (c + d)(s - 1 + floor((m - 1)(s - 1) / s))
  EXPECT_DOUBLE_EQ(answer["step_seconds"].get<double>(),
                   5 * 0.003 + 2 * 0.0003);
  EXPECT_EQ(answer["peak_bytes"], json({1200, 1100}));
  EXPECT_EQ(answer["order"],
            json({{"F_0", "F_1", "B_0", "F_2", "B_1", "F_3", "B_2", "B_3"},
                  {"F_0", "B_0", "F_1", "B_1", "F_2", "B_2", "F_3", "B_3"}}));
  EXPECT_NEAR(answer["bubble"].get<double>(), 1 - 4 * 0.003 / 0.0156, 1e-12);
  EXPECT_EQ(answer["schedules"].size(), 1u);
  EXPECT_FALSE(answer.contains("partition"));
}

TEST(PipelineJsonTest, NoneAskedForAllAreTried) {
  json document = Document();
  document["schedule"] = nullptr;
  const json answer = Answered(document);
  ASSERT_EQ(answer["schedules"].size(), 4u);
  for (const json& schedule : answer["schedules"]) {
    EXPECT_GE(schedule["step_seconds"], answer["step_seconds"]);
  }
  EXPECT_EQ(answer["schedule"], "eager-1f1b-delay");
  EXPECT_THAT(answer["order"][0].dump(), HasSubstr("\"BI_0\""));
  EXPECT_THAT(answer["order"][0].dump(), HasSubstr("\"BW_3\""));
}

// Where both gradients are one operation, it takes its own time.
TEST(PipelineJsonTest, OneOperationMayBeShorterOrLongerThanTwo) {
  json plain = Document();
  for (const double backward : {0.0012, 0.002, 0.0025}) {
    json document = Document();
    json sum = Document();  // that takes as long, apart or not
    for (json& stage : document["stages"]) stage["backward_seconds"] = backward;
    for (json& stage : sum["stages"]) {
      stage["backward_weight_seconds"] = 0;
      stage["backward_input_seconds"] = backward;
    }
    for (const char* schedule : {"gpipe", "1f1b", "eager-1f1b"}) {
      document["schedule"] = sum["schedule"] = schedule;
      EXPECT_EQ(Answered(document)["step_seconds"],
                Answered(sum)["step_seconds"]);
    }
    document["schedule"] = plain["schedule"] = "eager-1f1b-delay";
    EXPECT_EQ(Answered(document)["step_seconds"],
              Answered(plain)["step_seconds"]);
    document.erase("schedule");
    const json answer = Answered(document);
    EXPECT_LE(answer["lower_bound_seconds"], answer["step_seconds"]);
  }
}

TEST(PipelineJsonTest, InfeasibleIsAnAnswer) {
  json document = Document();
  document["memory_limit_bytes"] = 1199;
  json answer = Answered(document);
  EXPECT_EQ(answer["feasible"], false);
  for (const char* figure :
       {"schedule", "step_seconds", "bubble", "peak_bytes", "order"}) {
    EXPECT_TRUE(answer[figure].is_null()) << figure;
  }
  EXPECT_EQ(answer["least_memory_bytes"], 1200);
  EXPECT_EQ(answer["limit_bytes"], 1199);
  document["memory_limit_bytes"] = {1300, 1099};
  answer = Answered(document);
  EXPECT_EQ(answer["least_memory_bytes"], json({1200, 1100}));
  EXPECT_EQ(answer["limit_bytes"], json({1300, 1099}));
  document["memory_limit_bytes"] = {1200, 1100};
  EXPECT_EQ(Answered(document)["schedule"], "1f1b");
}

TEST(PipelineJsonTest, SegmentsAreCutIntoStages) {
  json document = Segments();
  json answer = Answered(document);
  EXPECT_EQ(answer["feasible"], true);
  const json& partition = answer["partition"];
  EXPECT_EQ(partition["optimal"], true);
  EXPECT_EQ(partition["stages"][0], json({{"first_segment", 0},
                                          {"segments", 1},
                                          {"mesh", 0},
                                          {"devices", 1}}));
  EXPECT_EQ(partition["stages"].size(), 3u);
  EXPECT_EQ(answer["order"].size(), 3u);
  document["memory_limit_bytes"] = 1000;
  answer = Answered(document);
  EXPECT_EQ(answer["feasible"], false);
  EXPECT_TRUE(answer["partition"].is_null());
  EXPECT_EQ(answer["least_memory_bytes"], 1300);
  // The second segment runs on two devices only, the third on one.
  document["devices"] = 2;
  EXPECT_TRUE(Answered(document)["least_memory_bytes"].is_null());
}

TEST(PipelineJsonTest, OneStageNeedsNoTransfers) {
  json document = Document();
  document["stages"].erase(1);
  document.erase("transfers");
  EXPECT_DOUBLE_EQ(Answered(document)["step_seconds"].get<double>(), 0.012);
  EXPECT_EQ(Answered(document)["bubble"], 0);
}

TEST(PipelineJsonTest, BadInputIsOneSentence) {
  const auto refusal = [](const std::string& text) {
    const auto file = ParseFile(text);
    EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument) << text;
    const std::string message(file.status().message());
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message;
  };
  const auto changed = [&](const char* path, const json& value) {
    json document = Document();
    document[json::json_pointer(path)] = value;
    return refusal(document.dump());
  };
  EXPECT_THAT(refusal("{"), HasSubstr("not JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("not an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("stages is missing"));
  for (const char* field : {"transfers", "micro_batches", "overlap"}) {
    json document = Document();
    document.erase(field);
    EXPECT_THAT(refusal(document.dump()),
                HasSubstr(std::string(field) + " is missing"));
  }
  EXPECT_THAT(changed("/stages", json::array()), HasSubstr("stages is empty"));
  EXPECT_THAT(changed("/stages/1", 3),
              HasSubstr("stages[1] is number, not an object"));
  EXPECT_THAT(changed("/stages/1/forward_seconds", -1),
              HasSubstr("stages[1].forward_seconds is negative"));
  EXPECT_THAT(changed("/stages/1/forward_seconds", nullptr),
              HasSubstr("stages[1].forward_seconds is null"));
  EXPECT_THAT(changed("/stages/0/activation_bytes", -5),
              HasSubstr("stages[0].activation_bytes is negative"));
  EXPECT_THAT(changed("/stages/0/activation_bytes", 1.5),
              HasSubstr("stages[0].activation_bytes is 1.5"));
  EXPECT_THAT(changed("/stages/0/delayed_bytes", -1),
              HasSubstr("stages[0].delayed_bytes is negative"));
  EXPECT_THAT(changed("/stages/1/backward_seconds", -1),
              HasSubstr("stages[1].backward_seconds is negative"));
  EXPECT_THAT(changed("/transfers", json::array()),
              HasSubstr("transfers has 0 entries; 2 stages have 1"));
  EXPECT_THAT(changed("/transfers/0/backward_seconds", "fast"),
              HasSubstr("transfers[0].backward_seconds is string"));
  EXPECT_THAT(changed("/micro_batches", 0), HasSubstr("micro_batches is 0"));
  EXPECT_THAT(changed("/micro_batches", 2'000'000),
              HasSubstr("with 2 stages at most"));
  EXPECT_THAT(changed("/overlap", "yes"), HasSubstr("true or false"));
  EXPECT_THAT(changed("/schedule", "2f2b"),
              HasSubstr("schedule is \"2f2b\"; there are gpipe"));
  EXPECT_THAT(changed("/schedule", 7), HasSubstr("schedule is \"7\""));
  EXPECT_THAT(changed("/memory_limit_bytes", 0),
              HasSubstr("memory_limit_bytes is 0"));
  EXPECT_THAT(changed("/memory_limit_bytes", json::array({1, 2, 3})),
              HasSubstr("memory_limit_bytes has 3 entries and stages 2"));
  EXPECT_THAT(changed("/memory_limit_bytes", json::array()),
              HasSubstr("memory_limit_bytes is empty"));
  EXPECT_THAT(changed("/stages/0/forward_seconds", 1e6),
              HasSubstr("give shorter times"));
  EXPECT_THAT(changed("/segments", json::array()),
              HasSubstr("stages and segments"));
  json segments = Segments();
  segments["segments"][1]["on"].erase(1);
  EXPECT_THAT(refusal(segments.dump()), HasSubstr("segments[1].on has 1"));
  segments = Segments();
  segments["meshes"][1]["name"] = 2;
  EXPECT_THAT(refusal(segments.dump()), HasSubstr("meshes[1].name"));
  segments = Segments();
  segments["segments"][0]["on"][1].erase("persistent_bytes");
  EXPECT_THAT(refusal(segments.dump()),
              HasSubstr("segments[0].on[1].persistent_bytes is missing"));
}

}  // namespace
}  // namespace meshwright::pipeline
