#include "planner/layout/layout_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>

#include "nlohmann/json.hpp"

namespace meshwright::layout {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json Case() {
  return json::parse(R"({"name": "rows to columns", "shape": [8, 12],
      "elem_bytes": 4, "mesh": [4], "alpha": [1e-6], "beta": [1e-9],
      "source": [[0], []], "target": [[], [0]]})");
}

std::string Text(const json& one) {
  json document;
  document["cases"] = {Case(), one};
  return document.dump();
}

json Answer(const json& one) {
  const auto answer = AnswerLayoutJson(Text(one));
  EXPECT_TRUE(answer.ok()) << answer.status();
  return json::parse(*answer)["cases"][1];
}

TEST(LayoutJsonTest, AnswersInTheFormat) {
  EXPECT_EQ(Answer(Case()), json::parse(R"({
      "name": "rows to columns", "feasible": true, "seconds": 3.072e-06,
      "lower_bound_seconds": 3.072e-06,
      "steps": [{"op": "all-to-all", "axis": 0, "dim": 0, "to_dim": 1,
                 "bytes": 96, "seconds": 3.072e-06}],
      "path": [[[0], []], [[], [0]]]})"));
}

// The example of docs/formats/layout.md.
TEST(LayoutJsonTest, OneAxisOfTwoMoves) {
  json one = Case();
  one["mesh"] = {2, 4};
  one["alpha"] = {1e-6, 2e-6};
  one["beta"] = {1e-9, 2e-9};
  one["source"] = json::parse("[[0, 1], []]");
  one["target"] = json::parse("[[0], [1]]");
  EXPECT_EQ(Answer(one), json::parse(R"({
      "name": "rows to columns", "feasible": true, "seconds": 6.072e-06,
      "lower_bound_seconds": 6.072e-06,
      "steps": [{"op": "all-to-all", "axis": 1, "dim": 0, "to_dim": 1,
                 "bytes": 48, "seconds": 6.072e-06}],
      "path": [[[0, 1], []], [[0], [1]]]})"));
}

TEST(LayoutJsonTest, APermuteNamesAxesAndDims) {
  json one = Case();
  one["mesh"] = {4, 4};
  one["alpha"] = {1e-6, 2e-6};
  one["beta"] = {1e-9, 1e-9};
  one["source"] = json::parse("[[0], []]");
  one["target"] = json::parse("[[1], []]");
  EXPECT_EQ(Answer(one)["steps"], json::parse(R"([
      {"op": "collective-permute", "axis": 0, "dim": 0, "axes": [0, 1],
       "dims": [0], "bytes": 96, "seconds": 2.096e-06}])"));
}

TEST(LayoutJsonTest, NoPathIsAnAnswer) {
  json one = Case();
  one["name"] = "stuck";
  one["shape"] = {5, 1};
  one["mesh"] = {2, 2};
  one["alpha"] = one["beta"] = {0, 0};
  one["source"] = json::parse("[[0, 1], []]");
  one["target"] = json::parse("[[], []]");
  EXPECT_EQ(Answer(one), json::parse(R"({"name": "stuck", "feasible": false,
      "seconds": null, "lower_bound_seconds": null, "steps": null, "path": null})"));
}

TEST(LayoutJsonTest, ScalarsAndNoCasesAreAnswered) {
  json one = Case();
  one["shape"] = one["source"] = one["target"] = json::array();
  EXPECT_EQ(Answer(one)["path"], json::parse("[[]]"));
  EXPECT_EQ(Answer(one)["seconds"], 0.0);
  EXPECT_EQ(*AnswerLayoutJson(R"({"cases": []})"), R"({"cases":[]})");
}

TEST(LayoutJsonTest, TimingsReplaceTheModel) {
  json one = Case();
  one.erase("alpha");
  one.erase("beta");
  one["links"] = json::parse(R"([
      {"op": "all-gather", "axis": 0, "bytes": 96, "seconds": 1e-6},
      {"op": "all-to-all", "axis": 0, "bytes": 96, "seconds": 5e-6},
      {"op": "collective-permute", "axis": 0, "bytes": 96, "seconds": 0}])");
  const json answer = Answer(one);
  EXPECT_EQ(answer["steps"][0]["op"], "all-gather");
  EXPECT_EQ(answer["seconds"], 1e-6);
}

struct BadField {
  const char* field;
  const char* value;
  const char* message;
};

class BadCaseTest : public testing::TestWithParam<BadField> {};

TEST_P(BadCaseTest, NamesTheFieldAndTheCase) {
  json one = Case();
  one["name"] = "odd";
  if (std::string(GetParam().value) == "missing") {
    one.erase(GetParam().field);
  } else {
    one[GetParam().field] = json::parse(GetParam().value);
  }
  const auto answer = AnswerLayoutJson(Text(one));
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(answer.status().message()),
              HasSubstr(GetParam().message));
  EXPECT_THAT(std::string(answer.status().message()), HasSubstr("cases[1]"));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, BadCaseTest,
    testing::Values(
        BadField{"name", "7", "cases[1]: name is number, not a string"},
        BadField{"shape", "missing", "(odd): shape is missing"},
        BadField{"shape", "8", "shape is number, not a list"},
        BadField{"shape", "[8, 0]", "shape[1] is 0"},
        BadField{"shape", "[-8, 8]", "shape[0] is -8"},
        BadField{"shape", "[8]", "source has 2 dimensions and shape has 1"},
        BadField{"shape", "[4000000000, 4000000000]", "2^62 bytes"},
        BadField{"shape", "[8, 1.5]", "shape[1] is 1.5"},
        BadField{"elem_bytes", "missing", "elem_bytes is missing"},
        BadField{"elem_bytes", "0", "elem_bytes is 0"},
        BadField{"elem_bytes", "-4", "elem_bytes is -4"},
        BadField{"elem_bytes", "9223372036854775807", "2^62 bytes"},
        BadField{"mesh", "[]", "mesh is empty"},
        BadField{"mesh", "[0]", "mesh[0] is 0"},
        BadField{"mesh", "[-2]", "mesh[0] is -2"},
        BadField{"mesh", "[4, 4]", "alpha has 1 figures and mesh 2 axes"},
        BadField{"mesh", "[2000000000]", "mesh has more than"},
        BadField{"alpha", "missing", "alpha is missing"},
        BadField{"alpha", "[]", "alpha has 0 figures"},
        BadField{"alpha", "[-1e-6]", "alpha[0] is negative"},
        BadField{"alpha", "[null]", "alpha[0] is null"},
        BadField{"alpha", "[\"fast\"]", "alpha[0] is string"},
        BadField{"alpha", "[1e300]", "give a smaller alpha[0]"},
        BadField{"beta", "missing", "beta is missing"},
        BadField{"beta", "[1e-9, 1e-9]", "beta has 2 figures"},
        BadField{"beta", "[-1e-9]", "beta[0] is negative"},
        BadField{"beta", "[1e300]", "or beta[0]"},
        BadField{"source", "missing", "source is missing"},
        BadField{"source", "[[0]]", "source has 1 dimensions"},
        BadField{"source", "[[1], []]", "source[0][0] is axis 1"},
        BadField{"source", "[[-1], []]", "source[0][0] is -1"},
        BadField{"source", "[[0, 0], []]", "source[0][1] is axis 0 again"},
        BadField{"source", "[0, []]", "source[0] is number, not a list"},
        BadField{"target", "[[0], [0]]", "target[1][0] is axis 0 again"},
        BadField{"target", "[[], [], []]", "target has 3 dimensions"},
        BadField{"target", "[[], [99999999999]]", "target[1][0]"},
        BadField{"links", "[]", "links has no row of all-gather along axis 0"},
        BadField{"links", "[{}]", "links[0].op is missing"}),
    [](const auto& info) {
      return std::string(info.param.field) + std::to_string(info.index);
    });

TEST(LayoutJsonTest, APastDeadlineStillGivesAPath) {
  json one = Case();
  one["shape"] = {64, 64};
  one["mesh"] = {2, 4, 2};
  one["alpha"] = one["beta"] = {1e-6, 1e-6, 1e-6};
  one["source"] = {{0, 1}, {2}};
  one["target"] = {{2}, {1, 0}};
  const auto answer = AnswerLayoutJson(
      Text(one), {.deadline = base::Deadline::After(std::chrono::seconds(-1))});
  ASSERT_TRUE(answer.ok()) << answer.status();
  const json made = json::parse(*answer)["cases"].back();
  EXPECT_EQ(made["path"].back(), one["target"]);
  EXPECT_LE(made["lower_bound_seconds"], made["seconds"]);
}

// Whatever a file holds, it is answered or refused.
TEST(LayoutJsonTest, BrokenTextIsRefused) {
  const std::string text = Text(Case());
  std::mt19937_64 random(20261121);
  const std::string letters = "0123456789-.e[]{},:\"n ";
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string broken = text;
    for (auto edits = 1 + random() % 3; edits > 0; --edits) {
      broken[random() % broken.size()] = letters[random() % letters.size()];
    }
    const auto answer = AnswerLayoutJson(broken);
    if (answer.ok()) continue;
    ++refused;
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kInvalidArgument)
        << broken;
    EXPECT_EQ(answer.status().message().find('\n'), std::string::npos);
  }
  EXPECT_GT(refused, 1500);
}

TEST(LayoutJsonTest, TheDocumentIsChecked) {
  const auto message = [](const char* text) {
    return std::string(AnswerLayoutJson(text).status().message());
  };
  EXPECT_THAT(message("{"), HasSubstr("not JSON"));
  EXPECT_THAT(message("[]"), HasSubstr("the document is array"));
  EXPECT_THAT(message("{}"), HasSubstr("cases is missing"));
  EXPECT_THAT(message(R"({"cases": {}})"), HasSubstr("cases is object"));
  EXPECT_THAT(message(R"({"cases": [3]})"),
              HasSubstr("cases[0] is number, not an object"));
  EXPECT_THAT(message(R"({"cases": [{"shapes": [1]}]})"),
              HasSubstr("shapes is no field that is read; write shape"));
  EXPECT_THAT(message(R"({"cases": [{"alpha": [1e999]}]})"),
              HasSubstr("cases[0].alpha[0] is 1e999"));
}

}  // namespace
}  // namespace meshwright::layout
