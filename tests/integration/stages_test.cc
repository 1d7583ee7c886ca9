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
  // What works on one module says that this is none.
  EXPECT_EQ(Run({"meshwright", "export", "tests/testdata/convnet_tiny.hlo.pb",
                 Path("plan.json"), "-o", Path("out.pb")},
                &errors),
            2);
  EXPECT_THAT(errors, HasSubstr("takes one of a single mesh"));
  // Again nothing is measured.
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
