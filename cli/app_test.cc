#include "cli/app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/exit_status.h"
#include "base/file.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

Outcome Command(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int status = RunCommand(arguments, {&out, &err, false});
  return {status, out.str(), err.str()};
}

// Bad input: exit status 2, one sentence, nothing on stdout.
void ExpectRefused(const std::vector<std::string>& arguments,
                   const std::string& words) {
  const Outcome outcome = Command(arguments);
  EXPECT_EQ(outcome.status, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, StartsWith("meshwright: "));
  EXPECT_THAT(outcome.err, HasSubstr(words));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1)
      << outcome.err;
}

constexpr char kModel[] = "tests/testdata/llama_tiny.hlo.pb";

TEST(AppTest, HelpIsAResult) {
  const Outcome outcome = Command({"--help"});
  EXPECT_EQ(outcome.status, 0);
  for (const char* verb :
       {"plan", "analyze", "validate", "explain", "export", "search", "layout",
        "reshard", "up", "jobs", "workers", "doctor"}) {
    EXPECT_THAT(outcome.out, HasSubstr(verb));
  }
  EXPECT_EQ(Command({"plan", "--help"}).status, 0);
}

TEST(AppTest, CommandLinesThatAreNone) {
  ExpectRefused({}, "verb");
  ExpectRefused({"fly"}, "fly");
  ExpectRefused({"plan"}, "required");
  ExpectRefused({"plan", kModel, "--mesh", "1x2", "--colour"}, "--colour");
  ExpectRefused({"jobs"}, "jobs --help");
  ExpectRefused({"up", "--devices", "0"}, "--devices");
}

TEST(AppTest, MeshesThatAreNone) {
  ExpectRefused({"plan", kModel, "--mesh", "0x2"}, "\"0x2\"");
  ExpectRefused({"plan", kModel, "--mesh", "100000"}, "4096");
  ExpectRefused({"analyze", kModel, "--mesh", "two"}, "\"two\"");
}

TEST(AppTest, FilesThatAreNotThere) {
  ExpectRefused({"plan", "/nonexistent.pb", "--mesh", "1x2"},
                "/nonexistent.pb");
  ExpectRefused({"analyze", "/tmp", "--mesh", "1x2"}, "/tmp is a folder");
  ExpectRefused({"explain", "/nonexistent.json"}, "/nonexistent.json");
  ExpectRefused({"export", kModel, "/nonexistent.json", "-o", "x"},
                "/nonexistent.json");
  ExpectRefused({"search", "/nonexistent.json"}, "/nonexistent.json");
  ExpectRefused({"layout", "--cases", "/nonexistent.json"},
                "/nonexistent.json");
  ExpectRefused({"reshard", "--tasks", "/nonexistent.json"},
                "/nonexistent.json");
  ExpectRefused({"plan", kModel, "--mesh", "1x2", "-o", "/nonexistent/plan"},
                "/nonexistent/plan");
}

TEST(AppTest, DevicesThatAreUnknown) {
  ExpectRefused({"plan", kModel, "--mesh", "1x2", "--platform", "abacus"},
                "abacus");
  ExpectRefused({"plan", kModel, "--mesh", "1x2", "--plugin", "/no/plugin.so"},
                "/no/plugin.so");
  ExpectRefused({"plan", kModel, "--mesh", "1x2", "--device-memory", "much"},
                "\"much\"");
}

TEST(AppTest, StoreAndCoordinatorExcludeEachOther) {
  ExpectRefused(
      {"plan", kModel, "--mesh", "1x2", "--store", "a", "--coordinator", "b:1"},
      "--coordinator");
}

TEST(AppTest, ASymbolicPlanNeedsNoDeviceAndNoStore) {
  const Outcome outcome =
      Command({"plan", kModel, "--mesh", "1x2", "--symbolic", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto plan = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(plan["device"], "symbolic");
  EXPECT_THAT(plan["notes"][0].get<std::string>(),
              HasSubstr("nothing was measured"));
  ExpectRefused({"plan", kModel, "--mesh", "1x2", "--symbolic", "--store", "s"},
                "--symbolic");
}

TEST(AppTest, AnAnalysisHoldsTheSymbolicProfile) {
  const Outcome outcome =
      Command({"analyze", kModel, "--mesh", "1x2", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto analysis = nlohmann::json::parse(outcome.out);
  const auto& symbolic = analysis["symbolic"];
  EXPECT_GT(symbolic["step"]["flops"], 0);
  EXPECT_EQ(symbolic["segment_types"].size(), analysis["segment_types"].size());
  EXPECT_GE(symbolic["memory"]["peak_bytes"],
            symbolic["memory"]["argument_bytes"]);
}

TEST(AppTest, APlanIsExplained) {
  const std::string path = testing::TempDir() + "/app_test_plan.json";
  ASSERT_TRUE(base::WriteFile(path,
                              "{\"schema_version\": 1, \"feasible\": true, "
                              "\"model\": {\"name\": \"llama\"}}")
                  .ok());
  EXPECT_THAT(Command({"explain", path}).out, StartsWith("llama"));
  const auto json =
      nlohmann::json::parse(Command({"explain", path, "--json"}).out);
  EXPECT_EQ(json["model"]["name"], "llama");
}

TEST(AppTest, AReshardingIsScheduled) {
  const std::string path = testing::TempDir() + "/app_test_tasks.json";
  ASSERT_TRUE(base::WriteFile(path, R"({"bandwidth_bytes_per_s": 1e9, "tasks": [
      {"id": "a", "size_bytes": 3000000, "sender_hosts": ["x", "y"],
       "receiver_hosts": ["z"]},
      {"id": "b", "size_bytes": 2000000, "sender_hosts": ["x"],
       "receiver_hosts": ["w"]}]})")
                  .ok());
  const auto answer = nlohmann::json::parse(
      Command({"reshard", "--tasks", path, "--json"}).out);
  EXPECT_EQ(answer["makespan_s"], 0.003);
  EXPECT_EQ(answer["optimal"], true);
  EXPECT_EQ(answer["senders"]["a"], "y");
  const std::string table = Command({"reshard", "--tasks", path}).out;
  EXPECT_THAT(table, HasSubstr("3.0 ms, which is the least"));
  EXPECT_THAT(table, HasSubstr("x -> w"));
  EXPECT_EQ(nlohmann::json::parse(Command({"reshard", "--tasks", path, "--json",
                                           "--solver", "naive"})
                                      .out)["makespan_s"],
            0.005);
  ExpectRefused({"reshard", "--tasks", path, "--solver", "best"}, "ensemble");
  ExpectRefused({"reshard", "--tasks", path, "--deadline", "-1"},
                "--deadline is -1");
}

TEST(ExitStatusTest, BadInputIsTwoAndFailedWorkIsOne) {
  EXPECT_EQ(base::ExitStatus(absl::OkStatus()), 0);
  EXPECT_EQ(base::ExitStatus(absl::AlreadyExistsError("")), 2);
  EXPECT_EQ(base::ExitStatus(absl::FailedPreconditionError("")), 2);
  EXPECT_EQ(base::ExitStatus(absl::ResourceExhaustedError("")), 2);
  EXPECT_EQ(base::ExitStatus(absl::UnavailableError("")), 1);
  EXPECT_EQ(base::ExitStatus(absl::CancelledError("")), 1);
  EXPECT_EQ(base::ExitStatus(absl::InternalError("")), 1);
}

}  // namespace
}  // namespace meshwright::cli
