#include "planner/problem/problem_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/problem/testing/write_problem.h"

namespace meshwright::problem {
namespace {

constexpr char kConfig[] =
    R"({"seconds":0.5,"persistent_bytes":1,"saved_bytes":2,"transient_bytes":3})";

// With `config` in place of the configuration and `more` before the end.
std::string Document(const std::string& config, const std::string& more = "") {
  return R"({"types":[{"name":"t","configs":[)" + config +
         R"(]}],"nodes":[{"type":0,"repeat":3},{"type":0,"tied":true}],
            "edges":[{"from":0,"to":1,"table":0}],
            "self_edges":[{"type":0,"table":0}],"tables":[[[0.25]]])" +
         more + "}";
}

TEST(ProblemJsonTest, ReadsTheFormatAndWritesItBack) {
  const auto problem = ProblemFromJson(
      Document(kConfig, R"(,"memory_limit_bytes":1e3,"fixed":{"1":[0]},
                           "headroom_percent":2.5,"forbidden":{"0":[]})"));
  ASSERT_TRUE(problem.ok()) << problem.status();
  EXPECT_EQ(problem->types[0].configs[0].time.count(), 500'000'000'000);
  EXPECT_EQ(problem->nodes[0].repeat, 3);
  EXPECT_TRUE(problem->nodes[1].tied);
  EXPECT_EQ(problem->memory_limit_bytes, 1000);
  EXPECT_EQ(problem->fixed.at(1), std::vector<int>{0});
  EXPECT_EQ(problem->headroom_percent, 2.5);
  EXPECT_TRUE(problem->forbidden.at(0).empty());
  const std::string written = ProblemToJson(*problem);
  const auto again = ProblemFromJson(written);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(ProblemToJson(*again), written);
}

TEST(ProblemJsonTest, NullForbidsAPair) {
  std::string text = Document(kConfig);
  text.replace(text.find("0.25"), 4, "null");
  const auto problem = ProblemFromJson(text);
  ASSERT_TRUE(problem.ok()) << problem.status();
  EXPECT_FALSE(problem->tables[0].at(0, 0).has_value());
}

TEST(ProblemJsonTest, IntervalsComeBack) {
  constexpr char kUnsure[] =
      R"({"seconds":0.5,"persistent_bytes":1,"saved_bytes":2,
          "transient_bytes":3,"seconds_interval":[0.25,0.625]})";
  const auto problem = ProblemFromJson(
      Document(kUnsure, R"(,"table_intervals":[[[[0.125,0.25]]]])"));
  ASSERT_TRUE(problem.ok()) << problem.status();
  const NoiseInterval& noise = problem->types[0].configs[0].noise;
  EXPECT_EQ(noise.below.count(), 250'000'000'000);
  EXPECT_EQ(noise.above.count(), 125'000'000'000);
  EXPECT_EQ(problem->tables[0].NoiseAt(0, 0).below.count(), 125'000'000'000);
  EXPECT_EQ(problem->tables[0].NoiseAt(0, 0).above.count(), 0);
  const std::string written = ProblemToJson(*problem);
  const auto again = ProblemFromJson(written);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(ProblemToJson(*again), written);
  EXPECT_EQ(again->tables[0].noise, problem->tables[0].noise);
  EXPECT_EQ(ProblemToJson(*ProblemFromJson(Document(kConfig))).find("interval"),
            std::string::npos);
}

TEST(ProblemJsonTest, NamesTheFieldInOneSentence) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "not JSON at byte"},
      {"[]", "the document is array, not an object"},
      {"{}", "types is missing"},
      {Document("{}"), "types[0].configs[0].seconds is missing"},
      {Document("3"), "types[0].configs[0] is number, not an object"},
      {Document(R"({"seconds":"x"})"), "seconds is string"},
      {Document(R"({"seconds":null})"), "seconds is null"},
      {Document(R"({"seconds":-1})"), "configs[0].seconds is negative: -1"},
      {Document(R"({"seconds":NaN})"),
       "in the field types[0].configs[0].seconds"},
      {Document(R"({"seconds":Infinity})"),
       "in the field types[0].configs[0].seconds"},
      {Document(R"({"seconds":1e999})"),
       "types[0].configs[0].seconds is 1e999"},
      {Document(R"({"seconds":1})"), "persistent_bytes is missing"},
      {Document(R"({"seconds":1,"persistent_bytes":0.5})"),
       "persistent_bytes is 0.5, not an integer"},
      {Document(R"({"seconds":1,"persistent_bytes":18446744073709551615})"),
       "persistent_bytes is larger than 63 bits hold"},
      {Document(kConfig, R"(,"fixed":{"x":[0]})"), "the key 'x'"},
      {Document(kConfig, R"(,"fixed":[1])"), "fixed is array, not an object"},
      {Document(kConfig, R"(,"forbidden":[1])"),
       "forbidden is array, not an object"},
      {Document(kConfig, R"(,"forbidden":{"0":[0]})"),
       "forbidden[0] allows no configuration"},
      {Document(kConfig, R"(,"headroom_percent":"5")"),
       "headroom_percent is string, not a number"},
      {Document(kConfig, R"(,"table_intervals":[])"),
       "table_intervals has 0 entries, but there are 1"},
      {Document(kConfig, R"(,"table_intervals":[[[[0.5,1]]]])"),
       "table_intervals[0][0][0] does not hold its own time"},
      {Document(kConfig, R"(,"table_intervals":[[[[0.1]]]])"),
       "table_intervals[0][0][0] has 1 entries, not [lo, hi]"},
      {Document(R"({"seconds":1,"persistent_bytes":0,"saved_bytes":0,
                    "transient_bytes":0,"seconds_interval":[-1,2]})"),
       "configs[0].seconds_interval[0] is negative"},
      {Document(kConfig, R"(,"memory_limit":1000)"),
       "memory_limit is no field that is read; write memory_limit_bytes"},
      {Document(kConfig, R"(,"nodes":[])"), "nodes stands twice"},
      {Document(kConfig, R"(,"memory_limit_bytes":"8GiB")"),
       "memory_limit_bytes is string"},
  };
  for (const auto& [text, says] : cases) {
    const auto problem = ProblemFromJson(text);
    EXPECT_EQ(problem.status().code(), absl::StatusCode::kInvalidArgument);
    const std::string message(problem.status().message());
    EXPECT_THAT(message, testing::HasSubstr(says));
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace meshwright::problem
