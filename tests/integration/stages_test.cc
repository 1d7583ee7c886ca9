// `meshwright plan --stages` as a real process: a small model on a cluster of
// virtual CPU devices, every program compiled and timed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/integration/process.h"

namespace meshwright::integration {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class StagesTest : public testing::Test {
 protected:
  StagesTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  std::string Path(const std::string& name) const {
    return folder_ + "/" + name;
  }
  int Run(const std::vector<std::string>& arguments, std::string* errors) {
    Process process(arguments);
    const int status = process.Wait();
    *errors = process.Errors();
    return status;
  }
  std::vector<std::string> Plan(const std::string& model) const {
    return {"meshwright",
            "plan",
            "tests/testdata/" + model + ".hlo.pb",
            "--mesh",
            "2x2",
            "--stages",
            "--store",
            Path("store"),
            "--bandwidth",
            "1GB",
            "-o",
            Path("plan.json"),
            "--trace",
            Path("trace.json")};
  }

  // The plan's modules, as files and for real.
  void RunsWhatItPlanned() {
    const std::string model = "tests/testdata/convnet_tiny.hlo.pb";
    std::string errors;
    ASSERT_EQ(Run({"meshwright", "export", model, Path("plan.json"), "-o",
                   Path("launch")},
                  &errors),
              0)
        << errors;
    const json manifest =
        json::parse(*base::ReadFile(Path("launch/manifest.json")));
    ASSERT_FALSE(manifest["modules"].empty());
    for (const json& module : manifest["modules"]) {
      EXPECT_TRUE(std::filesystem::exists(
          Path("launch/" + module["file"].get<std::string>())));
    }
    Process validation(
        {"meshwright", "validate", model, Path("plan.json"), "--json"});
    std::string text;
    for (std::string line = validation.ReadLine(); !line.empty();) {
      text += line;
      line = validation.ReadLine();
    }
    ASSERT_EQ(validation.Wait(), 0) << validation.Errors();
    const json report = json::parse(text);
    EXPECT_LT(report["max_relative_difference"], 1e-3);
    EXPECT_GT(report["step"]["simulated_seconds"], 0);
    EXPECT_EQ(report["stages"].size(), manifest["stages"].size());
    EXPECT_EQ(Run({"meshwright", "validate", "tests/testdata/bert_tiny.hlo.pb",
                   Path("plan.json")},
                  &errors),
              2);
    EXPECT_THAT(errors, HasSubstr("made for another model"));
  }

  const std::string folder_ = testing::TempDir() + "/stages_test";
};

TEST_F(StagesTest, PlansAndMeasuresASmallModel) {
  std::vector<std::string> arguments = Plan("convnet_tiny");
  arguments.insert(arguments.end(), {"--micro-batches", "4"});
  std::string errors;
  ASSERT_EQ(Run(arguments, &errors), 0) << errors;
  const json plan = json::parse(*base::ReadFile(Path("plan.json")));
  EXPECT_EQ(plan["feasible"], true);
  // Programs of parts of a segment, with fewer outputs and aliases, are legal.
  EXPECT_EQ(plan["programs"]["failed"], 0) << plan["notes"];
  ASSERT_FALSE(plan["stages"].empty());
  double forward = 0, update = 0;
  for (const json& stage : plan["stages"]) {
    EXPECT_EQ(stage["split_estimated"], false);
    forward += stage["forward_seconds"].get<double>();
    update += stage["update_seconds"].get<double>();
  }
  EXPECT_GT(forward, 0);
  // A difference of least times: nothing where noise is as large.
  EXPECT_GE(update, 0);
  const json trace = json::parse(*base::ReadFile(Path("trace.json")));
  EXPECT_FALSE(trace["traceEvents"].empty());
  RunsWhatItPlanned();
  // The store has all that the plan stands on.
  arguments.push_back("--no-wait");
  ASSERT_EQ(Run(arguments, &errors), 0) << errors;
  const json again = json::parse(*base::ReadFile(Path("plan.json")));
  EXPECT_EQ(again["programs"]["profiled"], 0);
  EXPECT_EQ(again["predicted"]["step_seconds"],
            plan["predicted"]["step_seconds"]);
}

TEST_F(StagesTest, BadInputIsASentence) {
  std::string errors;
  EXPECT_EQ(Run(Plan("convnet_tiny"), &errors), 2);
  EXPECT_THAT(errors, HasSubstr("give --micro-batches"));
}

}  // namespace
}  // namespace meshwright::integration
