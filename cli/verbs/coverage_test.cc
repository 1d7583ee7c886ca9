// profiles coverage, asked of a coordinator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "cli/testing/lone_coordinator.h"
#include "cli/testing/outcome.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

class CoverageVerbTest : public testing::Test {
 protected:
  CoverageVerbTest() {
    EXPECT_TRUE(
        base::WriteFile(model_, segmenter::ReadSample("gpt2_tiny")).ok());
  }
  ~CoverageVerbTest() override { std::filesystem::remove(model_); }

  const std::string model_ =
      absl::StrCat(testing::TempDir(), "/coverage_", getpid(), ".hlo.pb");
};

TEST_F(CoverageVerbTest, ACoordinatorSaysWhatItsStoreKnows) {
  store::FakeProfileStore store;
  store::MemoryPlanStore plans;
  const auto cluster = StartLoneCoordinator(&store, &plans);
  const std::vector<std::string> words = {
      "profiles",      "coverage",         model_,  "--mesh", "1x2",
      "--coordinator", cluster->address(), "--json"};
  const Outcome unclear = Command(words);
  EXPECT_EQ(unclear.status, 1);
  EXPECT_THAT(unclear.err, HasSubstr("worker"));

  v1::DeviceRecord device;
  device.set_platform("cpu");
  device.set_device_kind("cpu");
  device.set_device_count(2);
  ASSERT_TRUE(plans.RememberDevice(device).ok());
  const Outcome outcome = Command(words);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_GT(report["programs"], 10);
  EXPECT_EQ(report["unknown"], report["programs"]);
  EXPECT_EQ(report["device"], "cpu cpu");
  EXPECT_EQ(report["is_guess"], true);
  EXPECT_EQ(store.Count()->profiles.size(), 0);
}

TEST_F(CoverageVerbTest, BadInputIsOneSentence) {
  ExpectRefused({"profiles", "coverage", model_}, "--mesh");
  ExpectRefused({"profiles", "coverage", model_, "--mesh", "0x2"}, "0x2");
  ExpectRefused({"profiles", "coverage", model_, "--mesh", "1x2", "--store",
                 "a", "--coordinator", "b"},
                "--store");
}

}  // namespace
}  // namespace meshwright::cli
