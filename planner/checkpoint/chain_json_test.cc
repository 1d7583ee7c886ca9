#include "planner/checkpoint/chain_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "nlohmann/json.hpp"

namespace meshwright::checkpoint {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr char kChain[] = R"({
  "fwd_time": [1, 2], "bwd_time": [10, 20.5], "act_size": [10, 20, 5],
  "saved_size": [100, 3e2], "loss_time": 0.25})";

TEST(ChainJsonTest, AnswersAsTheFormatSays) {
  const auto text = AnswerCheckpointJson(kChain, 415);
  ASSERT_TRUE(text.ok()) << text.status();
  const json answer = json::parse(*text);
  EXPECT_EQ(answer["feasible"], true);
  EXPECT_EQ(answer["makespan"], 33.75);
  EXPECT_EQ(answer["lower_bound"], 33.75);
  EXPECT_EQ(answer["peak_bytes"], 415);
  EXPECT_EQ(answer["sequence"], json({"Fe_0", "Fe_1", "L", "B_1", "B_0"}));
  EXPECT_TRUE(answer["solve_seconds"].is_number());
}

TEST(ChainJsonTest, RepeatsWhereTheBudgetBinds) {
  const auto text = AnswerCheckpointJson(kChain, 414);
  ASSERT_TRUE(text.ok()) << text.status();
  const json answer = json::parse(*text);
  EXPECT_EQ(answer["makespan"], 34.75);
  EXPECT_EQ(answer["peak_bytes"], 335);
  EXPECT_EQ(answer["sequence"],
            json({"CF_0", "Fe_1", "L", "B_1", "Fe_0", "B_0"}));
}

TEST(ChainJsonTest, ThatNothingFitsIsAnAnswer) {
  const auto text = AnswerCheckpointJson(kChain, 334);
  ASSERT_TRUE(text.ok()) << text.status();
  const json answer = json::parse(*text);
  EXPECT_EQ(answer["feasible"], false);
  for (const char* figure :
       {"makespan", "lower_bound", "peak_bytes", "sequence"}) {
    EXPECT_TRUE(answer.contains(figure));
    EXPECT_TRUE(answer[figure].is_null());
  }
  EXPECT_EQ(answer["least_memory_bytes"], 335);
  EXPECT_EQ(answer["limit_bytes"], 334);
}

TEST(ChainJsonTest, ReadsEveryField) {
  const auto chain = ParseChain(R"({
    "fwd_time": [1], "bwd_time": [2], "act_size": [3, 4], "saved_size": [5],
    "fwd_tmp": [6], "bwd_tmp": [7], "fwd_comm_time": [8], "bwd_comm_time": [9],
    "fwd_comm_tmp": [10], "bwd_comm_tmp": [11], "loss_time": 12})");
  ASSERT_TRUE(chain.ok()) << chain.status();
  const Picoseconds second(1'000'000'000'000);
  EXPECT_EQ(chain->ForwardTime(0), 9 * second);
  EXPECT_EQ(chain->BackwardTime(0), 11 * second);
  EXPECT_EQ(chain->loss, 12 * second);
  EXPECT_EQ(chain->act_bytes, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(chain->saved_bytes[0], 5);
  EXPECT_EQ(chain->ForwardTransient(0), 16);
  EXPECT_EQ(chain->BackwardTransient(0), 18);
}

TEST(ChainJsonTest, NamesTheFieldThatIsWrong) {
  const struct {
    const char* field;
    const char* value;  // nullptr: missing
    const char* sentence;
  } cases[] = {
      {"fwd_time", nullptr, "fwd_time is missing"},
      {"fwd_time", "3", "fwd_time is number, not a list"},
      {"fwd_time", "[1, -2]", "fwd_time[1] is negative"},
      {"fwd_time", "[1, null]", "fwd_time[1] is null"},
      {"fwd_time", "[1, 1e300]", "fwd_time[1] is 1e+300 seconds"},
      {"fwd_time", "[]", "fwd_time is empty"},
      {"bwd_time", nullptr, "bwd_time is missing"},
      {"bwd_time", "[1]", "bwd_time has 1 entries, but 2"},
      {"act_size", "[1, 2]", "act_size has 2 entries, but 3"},
      {"act_size", "[1, 2, 2.5]", "act_size[2] is 2.5, not an integer"},
      {"act_size", "[1, 1e30, 1]", "act_size[1] is 1e+30"},
      {"saved_size", nullptr, "saved_size is missing"},
      {"saved_size", "[100, \"x\"]", "saved_size[1] is string"},
      {"fwd_tmp", "[]", "fwd_tmp is empty"},
      {"bwd_comm_tmp", "[1, 2, 3]", "bwd_comm_tmp has 3 entries"},
      {"loss_time", "-1", "loss_time is negative"},
  };
  for (const auto& [field, value, sentence] : cases) {
    json document = json::parse(kChain);
    document.erase(field);
    if (value != nullptr) document[field] = json::parse(value);
    const auto chain = ParseChain(document.dump());
    EXPECT_EQ(chain.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(chain.status().message()), HasSubstr(sentence));
  }
  for (const auto& [text, sentence] :
       {std::pair("{\"fwd_time\": [NaN]}", "in the field fwd_time[0]"),
        std::pair("{\"act_size\": [1, Infinity]}", "in the field act_size[1]"),
        std::pair("{\"fwd_time\": [1e999]}", "fwd_time[0] is 1e999"),
        std::pair(R"({"fwd_temp": [1]})", "fwd_temp is no field"),
        std::pair(R"({"fwd_time": [1], "fwd_time": [2]})", "stands twice"),
        std::pair("[1]", "the document is array"), std::pair("", "not JSON")}) {
    EXPECT_THAT(std::string(ParseChain(text).status().message()),
                HasSubstr(sentence));
  }
}

TEST(ChainJsonTest, RefusesAMillionStages) {
  json document = json::parse(kChain);
  document["fwd_time"] = std::vector<int>(1'000'000, 1);
  EXPECT_THAT(std::string(ParseChain(document.dump()).status().message()),
              HasSubstr("fwd_time has 1000000 stages"));
}

TEST(ChainJsonTest, RefusesABudgetOfNothing) {
  EXPECT_THAT(std::string(AnswerCheckpointJson(kChain, 0).status().message()),
              HasSubstr("budget is 0"));
}

}  // namespace
}  // namespace meshwright::checkpoint
