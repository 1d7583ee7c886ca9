// The main path on a real machine: `meshwright plan` compiles and times what a
// small step is made of, `meshwright validate` runs the whole step by the plan
// and by the baselines. The thresholds are those of a machine with other work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/integration/process.h"

namespace meshwright::integration {
namespace {

using nlohmann::json;

constexpr double kMaxDifference = 1e-3;  // of outputs
constexpr double kMaxError = 0.25;       // of the chosen plan's time now
constexpr double kMaxLoss = 1.25;        // chosen / best measured

class PlanAndValidateTest : public testing::Test {
 protected:
  PlanAndValidateTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  std::string Path(const std::string& name) const {
    return folder_ + "/" + name;
  }

  // The output of the verb; null where it fails.
  static json Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "meshwright");
    arguments.push_back("--json");
    Process process(arguments);
    std::string text;
    for (std::string line = process.ReadLine(); !line.empty();
         line = process.ReadLine()) {
      text += line;
    }
    const int status = process.Wait();
    EXPECT_EQ(status, 0) << process.Errors();
    return status == 0 ? json::parse(text, nullptr, false) : json();
  }

  const std::string folder_ = testing::TempDir() + "/plan_and_validate_test";
};

// Every program has one fate: measured, known, left out or failed.
void ExpectEveryProgramCounted(const json& programs) {
  const std::set<std::string> sums = {"total", "distinct", "halves",
                                      "remeasured"};
  int parts = 0;
  for (const auto& [name, count] : programs.items()) {
    if (!sums.contains(name)) parts += count.get<int>();
  }
  EXPECT_EQ(parts,
            programs["distinct"].get<int>() + programs["halves"].get<int>())
      << programs;
  EXPECT_GT(programs["profiled"], 0);
  EXPECT_EQ(programs["failed"], 0);
}

TEST_F(PlanAndValidateTest, TheChosenPlanComputesTheStepAsFastAsPredicted) {
  const std::string model = "tests/testdata/convnet_tiny.hlo.pb";
  const json plan = Run({"plan", model, "--mesh", "1x2", "--store",
                         Path("store"), "-o", Path("plan.json")});
  ASSERT_TRUE(plan.is_object());
  EXPECT_EQ(plan["feasible"], true);
  EXPECT_GT(plan["predicted"]["step_seconds"], 0);
  ExpectEveryProgramCounted(plan["programs"]);

  const json report =
      Run({"validate", model, Path("plan.json"), "--store", Path("store")});
  ASSERT_TRUE(report.is_object());
  ASSERT_GE(report["plans"].size(), 2u) << report;
  double best = INFINITY;
  for (const json& it : report["plans"]) {
    EXPECT_LE(it["max_relative_difference"], kMaxDifference) << it;
    best = std::min(best, it["measured_seconds"].get<double>());
  }
  const json& chosen = report["plans"][0];
  EXPECT_EQ(chosen["name"], report["chosen"]);
  EXPECT_EQ(chosen["predicted_seconds"], plan["predicted"]["step_seconds"]);
  EXPECT_LE(std::abs(chosen["error_now"].get<double>()), kMaxError) << chosen;
  EXPECT_LE(chosen["measured_seconds"].get<double>(), kMaxLoss * best)
      << report;
}

}  // namespace
}  // namespace meshwright::integration
