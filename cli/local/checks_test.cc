#include "cli/local/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

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
  const Check good = CheckPlugin(
      device, [](const v1::RunnerRequest& request,
                 const worker::OnRunnerEvent& on_event, std::stop_token) {
        v1::RunnerEvent event;
        event.mutable_ready()->set_platform_version("1.2");
        on_event(event);
        return absl::OkStatus();
      });
  EXPECT_EQ(good.state, Check::State::kOk);
  EXPECT_THAT(good.detail, HasSubstr("1.2"));
  const Check bad =
      CheckPlugin(device,
                  [](const v1::RunnerRequest&, const worker::OnRunnerEvent&,
                     std::stop_token) -> absl::Status {
                    return absl::FailedPreconditionError("it is no plugin");
                  });
  EXPECT_EQ(bad.state, Check::State::kFail);
  EXPECT_THAT(bad.detail, HasSubstr("it is no plugin"));
}

TEST(ChecksTest, NoCoordinatorIsAWarning) {
  EXPECT_EQ(CheckCoordinator("unix:/nonexistent/socket").state,
            Check::State::kWarn);
}

}  // namespace
}  // namespace meshwright::cli
