#include "coordinator/resharding/request_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "nlohmann/json.hpp"

namespace meshwright::resharding {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json Tasks() {
  return json::parse(R"({"bandwidth_bytes_per_s": 100, "tasks": [
      {"id": "a", "size_bytes": 300, "sender_hosts": ["x", "y"],
       "receiver_hosts": ["z"]},
      {"id": 7, "size_bytes": 2e2, "sender_hosts": ["x"],
       "receiver_hosts": ["w", 3]}]})");
}

json Tensor() {
  return json::parse(R"({"bandwidth_bytes_per_s": 1.25e9, "resharding": {
      "shape": [1024, 1024, 512], "elem_bytes": 4, "src_mesh": [2, 4],
      "src_spec": "RS0R", "dst_mesh": [2, 4], "dst_spec": "S0RR"}})");
}

json Answered(const json& request) {
  const auto answer = AnswerReshardJson(request.dump());
  EXPECT_TRUE(answer.ok()) << answer.status();
  json parsed = json::parse(*answer);
  EXPECT_GE(parsed["solve_seconds"], 0.0);
  parsed.erase("solve_seconds");
  return parsed;
}

TEST(RequestJsonTest, AnswersInTheFormat) {
  EXPECT_EQ(Answered(Tasks()), json::parse(R"({"makespan_s": 3.0,
      "lower_bound_s": 3.0, "optimal": true, "solver": "fullest-first",
      "order": ["a", 7], "senders": {"a": "y", "7": "x"}})"));
}

TEST(RequestJsonTest, ATensorIsAnsweredWithItsTasks) {
  const json answer = Answered(Tensor());
  EXPECT_EQ(answer["optimal"], true);
  EXPECT_DOUBLE_EQ(answer["makespan_s"], 1024.0 * 1024 * 512 * 4 / 2 / 1.25e9);
  ASSERT_EQ(answer["tasks"].size(), 4);
  EXPECT_EQ(answer["tasks"][1], json::parse(R"({"id": 1,
      "begin": [512, 0, 0], "end": [1024, 512, 512], "size_bytes": 536870912,
      "sender_hosts": ["s0"], "receiver_hosts": ["d1"],
      "src_devices": [0, 1, 2, 3], "dst_devices": [4, 5, 6, 7]})"));
  EXPECT_EQ(answer["senders"],
            json::parse(R"({"0": "s0", "1": "s0", "2": "s1", "3": "s1"})"));
}

TEST(RequestJsonTest, SplittingIsAskedFor) {
  json request = json::parse(R"({"bandwidth_bytes_per_s": 10, "split": true,
      "tasks": [
      {"id": 0, "size_bytes": 40, "sender_hosts": ["a"], "receiver_hosts": ["c"]},
      {"id": 1, "size_bytes": 60, "sender_hosts": ["a", "b"],
       "receiver_hosts": ["d"]},
      {"id": 2, "size_bytes": 30, "sender_hosts": ["b"], "receiver_hosts": ["e"]}]})");
  json answer = Answered(request);
  EXPECT_DOUBLE_EQ(answer["makespan_s"], 6.5);
  EXPECT_EQ(answer["optimal"], true);
  EXPECT_EQ(answer["order"], nullptr);
  EXPECT_EQ(answer["parts"].size(), 4);
  request["split"] = false;
  answer = Answered(request);
  EXPECT_DOUBLE_EQ(answer["makespan_s"], 9.0);
  EXPECT_FALSE(answer.contains("parts"));
}

TEST(RequestJsonTest, SpeedsLinksAndRoutesCount) {
  json request = Tasks();
  request["hosts"]["z"]["in_bytes_per_s"] = 50;
  EXPECT_DOUBLE_EQ(Answered(request)["makespan_s"], 6.0);
  request["routes"] =
      json::parse(R"([{"from": "y", "to": "z", "bytes_per_s": 0}])");
  EXPECT_DOUBLE_EQ(Answered(request)["makespan_s"], 8.0);
  request["hosts"]["x"]["out_links"] = 2;
  EXPECT_DOUBLE_EQ(Answered(request)["makespan_s"], 6.0);
}

TEST(RequestJsonTest, NoTasksTakeNoTime) {
  const json answer =
      Answered(json::parse(R"({"bandwidth_bytes_per_s": 1, "tasks": []})"));
  EXPECT_EQ(answer["makespan_s"], 0.0);
  EXPECT_EQ(answer["optimal"], true);
}

struct Bad {
  const char* where;  // a JSON pointer
  const char* value;
  const char* message;
};

class BadFieldTest : public testing::TestWithParam<Bad> {};

TEST_P(BadFieldTest, NamesTheField) {
  const Bad& bad = GetParam();
  json request =
      std::string(bad.where).starts_with("/resharding") ? Tensor() : Tasks();
  const json::json_pointer place(bad.where);
  if (std::string(bad.value) == "missing") {
    request[place.parent_pointer()].erase(place.back());
  } else {
    request[place] = json::parse(bad.value);
  }
  const auto answer = AnswerReshardJson(request.dump());
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(answer.status().message()), HasSubstr(bad.message));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, BadFieldTest,
    testing::Values(
        Bad{"/tasks", "missing", "tasks is missing; give tasks, or resharding"},
        Bad{"/tasks", "3", "tasks is number, not a list"},
        Bad{"/tasks/1", "3", "tasks[1] is number"},
        Bad{"/tasks/1/id", "missing", "tasks[1].id is missing"},
        Bad{"/tasks/1/id", "\"a\"", "two tasks have the id a"},
        Bad{"/tasks/1/id", "1.5", "tasks[1].id is number, not a string or"},
        Bad{"/tasks/1/id", "\"\"", "tasks[1].id is empty"},
        Bad{"/tasks/1/size_bytes", "0", "task 7: size_bytes is 0"},
        Bad{"/tasks/1/size_bytes", "-5", "task 7: size_bytes is -5"},
        Bad{"/tasks/1/size_bytes", "0.5", "tasks[1].size_bytes is 0.5"},
        Bad{"/tasks/1/size_bytes", "9e18", "larger than 2^62"},
        Bad{"/tasks/1/sender_hosts", "[]", "tasks[1].sender_hosts is empty"},
        Bad{"/tasks/1/sender_hosts", "[\"x\", \"x\"]", "names \"x\" twice"},
        Bad{"/tasks/1/sender_hosts", "\"x\"", "is string, not a list"},
        Bad{"/tasks/1/receiver_hosts", "missing", "receiver_hosts is missing"},
        Bad{"/tasks/1/receiver_hosts/0", "null", "receiver_hosts[0] is null"},
        Bad{"/bandwidth_bytes_per_s", "missing", "bandwidth_bytes_per_s is"},
        Bad{"/bandwidth_bytes_per_s", "0", "bandwidth_bytes_per_s is 0"},
        Bad{"/bandwidth_bytes_per_s", "\"1\"", "is string, not a number"},
        Bad{"/hosts", "[]", "hosts is array"},
        Bad{"/hosts", R"({"q": {}})", "hosts names \"q\""},
        Bad{"/hosts", R"({"x": {"speed": 1}})", "hosts.x.speed is no field"},
        Bad{"/hosts", R"({"x": {"out_links": 0}})", "hosts.x.out_links is 0"},
        Bad{"/hosts", R"({"w": {"in_bytes_per_s": 0}})",
            "task 7: no sender host reaches \"w\""},
        Bad{"/routes", "[{}]", "routes[0].from is missing"},
        Bad{"/routes", R"([{"from": "x", "to": "q", "bytes_per_s": 1}])",
            "routes[0].to names \"q\""},
        Bad{"/split", "1", "split is number"},
        Bad{"/resharding/shape", "[8, 8]", "src_spec has 3 dimensions"},
        Bad{"/resharding/shape/0", "0", "shape[0] is 0"},
        Bad{"/resharding/src_spec", "\"RS5R\"", "src_spec names axis 5"},
        Bad{"/resharding/dst_spec", "\"RSR\"", "resharding.dst_spec is"},
        Bad{"/resharding/dst_spec", "[[0]]", "not a text such as"},
        Bad{"/resharding/dst_mesh", "[]", "dst_mesh is empty"},
        Bad{"/resharding/dst_mesh", "missing", "dst_mesh is missing"},
        Bad{"/resharding/elem_bytes", "-1", "elem_bytes is -1"},
        Bad{"/resharding/src_hosts", "[\"a\"]", "src_hosts has 1 names"},
        Bad{"/resharding/src_hosts", "[]", "src_hosts is empty"}));

// Whatever a file holds, it is answered or refused in one line.
TEST(RequestJsonTest, BrokenTextIsRefused) {
  std::mt19937_64 random(20261122);
  const std::string letters = "0123456789-.e[]{},:\"n RS";
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string broken = (i % 2 == 0 ? Tasks() : Tensor()).dump();
    for (auto edits = 1 + random() % 3; edits > 0; --edits) {
      broken[random() % broken.size()] = letters[random() % letters.size()];
    }
    const auto answer = AnswerReshardJson(broken);
    if (answer.ok()) continue;
    ++refused;
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(answer.status().message().find('\n'), std::string::npos);
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace meshwright::resharding
