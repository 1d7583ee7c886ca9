#include "planner/search/tradeoffs/search_json.h"

#include <gtest/gtest.h>

#include <chrono>

#include "nlohmann/json.hpp"

namespace meshwright::search {
namespace {

using nlohmann::json;

constexpr char kProblem[] = R"({
  "types": [{"name": "layer", "configs": [
      {"seconds": 1, "persistent_bytes": 8, "saved_bytes": 2,
       "transient_bytes": 4},
      {"seconds": 2, "persistent_bytes": 1, "saved_bytes": 1,
       "transient_bytes": 3}]}],
  "nodes": [{"type": 0, "repeat": 3}],
  "edges": [],
  "self_edges": [{"type": 0, "table": 0}],
  "tables": [[[0, 0.25], [0.5, 0]]]
  %LIMIT%
})";

json Answer(const std::string& limit) {
  std::string text = kProblem;
  text.replace(text.find("%LIMIT%"), 7, limit);
  const auto answer = AnswerSearchJson(text);
  EXPECT_TRUE(answer.ok()) << answer.status();
  return json::parse(*answer);
}

TEST(SearchJsonTest, AnswersInTheFormat) {
  const json answer = Answer("");
  EXPECT_EQ(answer["feasible"], true);
  EXPECT_EQ(answer["seconds"], 3.0);
  EXPECT_EQ(answer["lower_bound_seconds"], 3.0);
  EXPECT_EQ(answer["gap"], 0.0);
  EXPECT_EQ(answer["peak_bytes"], 34);
  EXPECT_EQ(answer["choice"], json::parse("[[0,0,0]]"));
  EXPECT_EQ(answer["solver"], "chain");
  EXPECT_TRUE(answer["solve_seconds"].is_number());
}

TEST(SearchJsonTest, APlanOfMeasurementsHasAnInterval) {
  std::string text = kProblem;
  text.replace(text.find("%LIMIT%"), 7, "");
  text.replace(text.find("\"seconds\": 1,"), 13,
               "\"seconds\": 1, \"seconds_interval\": [0.875, 1.25],");
  const json answer = json::parse(*AnswerSearchJson(text));
  EXPECT_EQ(answer["interval_seconds"], json::parse("[2.625, 3.75]"));
  EXPECT_FALSE(Answer("").contains("interval_seconds"));
}

TEST(SearchJsonTest, ALimitChangesThePlan) {
  const json answer = Answer(R"(, "memory_limit_bytes": 26)");
  EXPECT_EQ(answer["seconds"], 4.25);
  EXPECT_EQ(answer["choice"], json::parse("[[0,0,1]]"));
  EXPECT_EQ(answer["peak_bytes"], 26);
}

TEST(SearchJsonTest, InfeasibleIsAnAnswer) {
  const json answer = Answer(R"(, "memory_limit_bytes": 8)");
  EXPECT_EQ(answer["feasible"], false);
  EXPECT_TRUE(answer["seconds"].is_null());
  EXPECT_TRUE(answer["choice"].is_null());
  EXPECT_EQ(answer["least_memory_bytes"], 9);
  EXPECT_EQ(answer["limit_bytes"], 8);
}

TEST(SearchJsonTest, TheFrontEndsWhereMemoryNoLongerHelps) {
  std::string text = kProblem;
  text.replace(text.find("%LIMIT%"), 7, "");
  SearchWishes wishes;
  wishes.front_points = 100;
  const auto answer = AnswerSearchJson(text, wishes);
  ASSERT_TRUE(answer.ok()) << answer.status();
  const json front = json::parse(*answer)["front"];
  ASSERT_GT(front.size(), 1u);
  EXPECT_TRUE(front.front()["limit_bytes"].is_number());
  EXPECT_TRUE(front.back()["limit_bytes"].is_null());
  EXPECT_EQ(front.back()["seconds"], 3.0);
}

std::string Text(const std::string& more) {
  std::string text = kProblem;
  return text.replace(text.find("%LIMIT%"), 7, more);
}

TEST(SearchJsonTest, TheFrontInOneCall) {
  const auto answer = AnswerSearchJson(Text(""), {.front_points = 100});
  ASSERT_TRUE(answer.ok()) << answer.status();
  const json front = json::parse(*answer);
  EXPECT_EQ(front["complete"], true);
  EXPECT_EQ(front["least_memory_bytes"], 9);
  ASSERT_EQ(front["front"].size(), 4);
  EXPECT_EQ(front["front"][0]["peak_bytes"], 9);
  EXPECT_EQ(front["front"][0]["seconds"], 6.0);
  EXPECT_EQ(front["front"][3]["peak_bytes"], 34);
  EXPECT_EQ(front["front"][3]["choice"], json::parse("[[0,0,0]]"));
}

TEST(SearchJsonTest, NothingFitsTheFrontEither) {
  const auto answer = AnswerSearchJson(Text(R"(, "memory_limit_bytes": 8)"),
                                       {.front_points = 5});
  ASSERT_TRUE(answer.ok()) << answer.status();
  const json front = json::parse(*answer);
  EXPECT_TRUE(front["front"].empty());
  EXPECT_EQ(front["least_memory_bytes"], 9);
  EXPECT_EQ(front["limit_bytes"], 8);
}

TEST(SearchJsonTest, HeadroomLowersTheLimit) {
  const std::string text = Text(R"(, "memory_limit_bytes": 34)");
  const auto answer = AnswerSearchJson(text, {.headroom_percent = 20});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_LE(json::parse(*answer)["peak_bytes"], 27);
  EXPECT_FALSE(AnswerSearchJson(text, {.headroom_percent = 100}).ok());
}

TEST(SearchJsonTest, AFrontHasAPoint) {
  EXPECT_FALSE(AnswerSearchJson(Text(""), {.front_points = 0}).ok());
}

TEST(SearchJsonTest, APastDeadlineStillGivesAPlan) {
  const auto answer = AnswerSearchJson(
      Text(""), {.deadline = {.at = std::chrono::steady_clock::now()}});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(json::parse(*answer)["feasible"], true);
}

TEST(SearchJsonTest, ForbiddenConfigurationsAreNotTaken) {
  const json answer = Answer(R"(, "forbidden": {"0": [0]})");
  EXPECT_EQ(answer["choice"], json::parse("[[1,1,1]]"));
}

}  // namespace
}  // namespace meshwright::search
