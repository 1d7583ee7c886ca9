#include "cli/local/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

TEST(ChecksTest, AMissingRunnerSaysTheWayOut) {
  setenv("MESHWRIGHT_RUNNER", "/nonexistent/runner", 1);
  const Check check = CheckRunner();
  unsetenv("MESHWRIGHT_RUNNER");
  EXPECT_EQ(check.state, Check::State::kFail);
  EXPECT_THAT(check.detail, HasSubstr("/nonexistent/runner"));
  EXPECT_THAT(check.advice, HasSubstr("MESHWRIGHT_RUNNER"));
}

TEST(ChecksTest, ThePluginSpeaksForItself) {
  v1::DeviceSpec device;
  device.set_platform("cpu");
  v1::RunnerEvent::Ready ready;
  ready.set_platform_version("1.2");
  const Check good = CheckPlugin(device, ready);
  EXPECT_EQ(good.state, Check::State::kOk);
  EXPECT_THAT(good.detail, HasSubstr("1.2"));
  const Check bad =
      CheckPlugin(device, absl::FailedPreconditionError("it is no plugin"));
  EXPECT_EQ(bad.state, Check::State::kFail);
  EXPECT_THAT(bad.detail, HasSubstr("it is no plugin"));
}

TEST(ChecksTest, AWayOutThatThePluginsSentenceNamesIsTheAdvice) {
  v1::DeviceSpec device;
  device.set_platform("cuda");
  const Check busy =
      CheckPlugin(device, absl::UnavailableError("GPU 0 is busy; end it"));
  EXPECT_EQ(busy.state, Check::State::kFail);
  EXPECT_EQ(busy.detail, "GPU 0 is busy");
  EXPECT_EQ(busy.advice, "end it");
  EXPECT_THAT(CheckPlugin(device, absl::UnavailableError("no device")).advice,
              HasSubstr("--plugin"));
}

TEST(ChecksTest, AStoreThatIsNotThereIsNotMade) {
  const std::string path =
      testing::TempDir() + "/checks_" + std::to_string(getpid()) + "/new.db";
  const Check named = CheckStore(path);
  EXPECT_EQ(named.state, Check::State::kWarn);
  EXPECT_THAT(named.detail, HasSubstr("not there yet"));
  EXPECT_THAT(named.advice, HasSubstr("spelling"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ChecksTest, AMeasureThatDoesNotHoldIsAWarningWithItsReason) {
  v1::RunnerEvent::Ready ready;
  v1::SandboxMeasure& network = *ready.add_sandbox();
  network.set_name("network");
  network.set_holds(true);
  v1::SandboxMeasure& memory = *ready.add_sandbox();
  memory.set_name("memory");
  memory.set_reason("no group is delegated");
  const Check check = CheckSandbox(ready);
  EXPECT_EQ(check.state, Check::State::kWarn);
  EXPECT_THAT(check.detail,
              HasSubstr("holds: network; does not hold: memory (no group"));
  EXPECT_NE(check.advice, "");
}

TEST(ChecksTest, NoCoordinatorIsAWarning) {
  EXPECT_EQ(CheckCoordinator("unix:/nonexistent/socket").state,
            Check::State::kWarn);
}

}  // namespace
}  // namespace meshwright::cli
