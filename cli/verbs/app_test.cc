#include "cli/verbs/app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/exit_status.h"
#include "base/file.h"
#include "cli/testing/outcome.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr char kModel[] = "tests/testdata/llama_tiny.hlo.pb";

TEST(AppTest, HelpIsAResult) {
  const Outcome outcome = Command({"--help"});
  EXPECT_EQ(outcome.status, 0);
  for (const char* verb : {"plan", "analyze", "validate", "explain", "export",
                           "search", "layout", "pipeline", "reshard", "up",
                           "jobs", "workers", "store", "top", "doctor"}) {
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

TEST(AppTest, HelpHasTitlesAndNoListsOfOtherNames) {
  EXPECT_THAT(Command({"--help"}).out, HasSubstr("A service and its workers:"));
  const std::string help = Command({"plan", "--help"}).out;
  EXPECT_THAT(help, HasSubstr("Pipeline stages:"));
  EXPECT_THAT(help, testing::Not(HasSubstr("Excludes:")));
  EXPECT_THAT(help, testing::Not(HasSubstr("Needs:")));
  const std::string jobs = Command({"jobs", "list", "--help"}).out;
  EXPECT_THAT(jobs, HasSubstr("also MESHWRIGHT_ADDRESS"));
  EXPECT_THAT(jobs, testing::Not(HasSubstr("Env:")));
}

TEST(AppTest, TheScreenOfAPlanSaysWhatIsNextAndVerboseSaysAll) {
  const std::vector<std::string> asked = {"plan", kModel, "--mesh", "1x2",
                                          "--symbolic"};
  const std::string screen = Command(asked).out;
  EXPECT_THAT(screen, HasSubstr("\nnext\n"));
  EXPECT_THAT(screen, testing::Not(HasSubstr("arguments")));
  std::vector<std::string> verbose = asked;
  verbose.push_back("--verbose");
  EXPECT_THAT(Command(verbose).out, HasSubstr("\narguments\n"));
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

TEST(AppTest, AnExportedModelKeepsWhatItsInstructionsAreCalledInTheSource) {
  const std::string plan = testing::TempDir() + "named_plan.json";
  const std::string annotated = testing::TempDir() + "named.hlo.pb";
  ASSERT_EQ(
      Command({"plan", kModel, "--mesh", "1x2", "--baseline", "tp", "-o", plan})
          .status,
      0);
  ASSERT_EQ(Command({"export", kModel, plan, "-o", annotated}).status, 0);
  const auto module = base::ReadFile(annotated);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(*module, HasSubstr("/layers/0/self_attn/q_proj/dot_general"));
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

TEST(AppTest, ALauncherReadsOneLineAndTheFileHasThePlan) {
  const std::string path = testing::TempDir() + "/app_test_launched.json";
  const Outcome outcome = Command({"plan", kModel, "--mesh", "1x2",
                                   "--symbolic", "-o", path, "--json-line"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find('\n'), outcome.out.size() - 1);
  const auto line = nlohmann::json::parse(outcome.out);
  const auto plan = nlohmann::json::parse(*base::ReadFile(path));
  EXPECT_EQ(line["file"], path);
  EXPECT_EQ(line["feasible"], true);
  EXPECT_EQ(line["step_seconds"], plan["predicted"]["step_seconds"]);
  ExpectRefused({"plan", kModel, "--mesh", "1x2", "--json", "--json-line"},
                "--json-line");
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

TEST(AppTest, APipelineGivesItsScheduleAndATrace) {
  const std::string path = testing::TempDir() + "/app_test_pipeline.json";
  const std::string trace = testing::TempDir() + "/app_test_trace.json";
  const std::string stage =
      R"({"forward_seconds":1e-3,"backward_input_seconds":1e-3,
      "backward_weight_seconds":1e-3,"activation_bytes":10,
      "persistent_bytes":100})";
  ASSERT_TRUE(base::WriteFile(path, R"({"stages":[)" + stage + "," + stage +
                                        R"(],"transfers":[
      {"forward_seconds":1e-4,"backward_seconds":1e-4}],
      "micro_batches":8,"overlap":true})")
                  .ok());
  const auto answer = nlohmann::json::parse(
      Command({"pipeline", path, "--json", "--trace", trace}).out);
  EXPECT_EQ(answer["schedules"].size(), 4u);
  const auto events = nlohmann::json::parse(*base::ReadFile(trace));
  EXPECT_GT(events["traceEvents"].size(), 2u * 3 * 8);
  const auto asked = nlohmann::json::parse(
      Command({"pipeline", path, "--json", "--schedule", "gpipe"}).out);
  EXPECT_EQ(asked["schedule"], "gpipe");
  EXPECT_THAT(Command({"pipeline", path}).out, HasSubstr("timeline"));
  ExpectRefused({"pipeline", path, "--schedule", "zigzag"}, "\"zigzag\"");
  ExpectRefused({"pipeline", path, "--trace", "/nonexistent/trace"},
                "/nonexistent/trace");
  ExpectRefused({"pipeline", "/nonexistent.json"}, "/nonexistent.json");
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
  EXPECT_THAT(table, HasSubstr("3.0 ms, proven optimal"));
  EXPECT_THAT(table, HasSubstr("x -> w"));
  EXPECT_EQ(nlohmann::json::parse(Command({"reshard", "--tasks", path, "--json",
                                           "--solver", "naive"})
                                      .out)["makespan_s"],
            0.005);
  ExpectRefused({"reshard", "--tasks", path, "--solver", "best"}, "ensemble");
}

TEST(AppTest, EveryDeadlineIsReadAlike) {
  const std::string path = testing::TempDir() + "/app_test_deadline.json";
  const std::pair<std::vector<std::string>, std::string> verbs[] = {
      {{"search", path},
       R"({"types": [{"name": "a", "configs": [{"seconds": 1,
        "persistent_bytes": 1, "saved_bytes": 0, "transient_bytes": 0}]}],
        "nodes": [{"type": 0, "repeat": 3}], "edges": [], "tables": []})"},
      {{"reshard", "--tasks", path},
       R"({"bandwidth_bytes_per_s": 1e9, "tasks": [{"id": "a",
        "size_bytes": 3, "sender_hosts": ["x"], "receiver_hosts": ["z"]}]})"},
      {{"pipeline", path},
       R"({"stages": [{"forward_seconds": 1, "backward_input_seconds": 1,
        "backward_weight_seconds": 1, "activation_bytes": 1,
        "persistent_bytes": 1}], "transfers": [], "micro_batches": 2,
        "overlap": true})"},
      {{"checkpoint", "--chain", path, "--budget", "600"},
       R"({"fwd_time": [1, 2], "bwd_time": [2, 4], "act_size": [10, 20, 5],
        "saved_size": [100, 300]})"}};
  for (const auto& [verb, text] : verbs) {
    ASSERT_TRUE(base::WriteFile(path, text).ok());
    std::vector<std::string> arguments = verb;
    arguments.insert(arguments.end(), {"--deadline", ""});
    for (const char* seconds : {"0", "0.5", "1e300"}) {
      arguments.back() = seconds;
      const Outcome outcome = Command(arguments);
      EXPECT_EQ(outcome.status, 0) << verb[0] << ": " << outcome.err;
    }
    for (const char* seconds : {"-1", "nan", "inf"}) {
      arguments.back() = seconds;
      ExpectRefused(arguments, absl::StrCat("--deadline is ", seconds, ";"));
    }
    arguments.back() = "soon";
    ExpectRefused(arguments, "--deadline");
  }
}

TEST(ExitStatusTest, BadInputIsTwoAndFailedWorkIsOne) {
  EXPECT_EQ(base::ToExitStatus(absl::OkStatus()), 0);
  EXPECT_EQ(base::ToExitStatus(absl::AlreadyExistsError("")), 2);
  EXPECT_EQ(base::ToExitStatus(absl::FailedPreconditionError("")), 2);
  EXPECT_EQ(base::ToExitStatus(absl::ResourceExhaustedError("")), 2);
  EXPECT_EQ(base::ToExitStatus(absl::UnavailableError("")), 1);
  EXPECT_EQ(base::ToExitStatus(absl::CancelledError("")), 1);
  EXPECT_EQ(base::ToExitStatus(absl::InternalError("")), 1);
}

}  // namespace
}  // namespace meshwright::cli
