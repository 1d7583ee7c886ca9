#include "cli/local/program_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/stop_wait.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

v1::DeviceSpec MakeCudaDevice() {
  v1::DeviceSpec device;
  device.set_platform("cuda");
  device.set_device_count(1);
  return device;
}

v1::RunnerEvent::Ready MakeReady(int devices) {
  v1::RunnerEvent::Ready ready;
  ready.set_device_count(devices);
  return ready;
}

// Every program was measured, but for what `spoil` makes of its row.
worker::BatchFunction MeasureAll(std::function<void(v1::ProfileResult&)> spoil =
                                     [](v1::ProfileResult&) {}) {
  return [spoil = std::move(spoil)](const v1::RunnerRequest& request,
                                    const worker::OnRunnerEvent& on_event,
                                    const std::stop_token&) {
    for (const v1::Program& program : request.programs()) {
      v1::RunnerEvent event;
      event.mutable_result()->set_key(program.key());
      event.mutable_result()->set_outcome(v1::MEASURED);
      spoil(*event.mutable_result());
      on_event(event);
    }
    return absl::OkStatus();
  };
}

v1::RunnerEvent MakeStarted(const std::string& key) {
  v1::RunnerEvent event;
  event.mutable_started()->set_key(key);
  return event;
}

v1::RunnerEvent MakeWaiting() {
  v1::RunnerEvent event;
  event.mutable_waiting()->set_reason("another process times on them");
  return event;
}

// Says `before`, runs until it is stopped, and says `after`.
worker::BatchFunction RunUntilStopped(std::vector<v1::RunnerEvent> before,
                                      std::vector<v1::RunnerEvent> after = {}) {
  return [before = std::move(before), after = std::move(after)](
             const v1::RunnerRequest&, const worker::OnRunnerEvent& on_event,
             const std::stop_token& stop) {
    for (const v1::RunnerEvent& event : before) on_event(event);
    base::WaitFor(absl::Hours(1), stop);
    for (const v1::RunnerEvent& event : after) on_event(event);
    return absl::CancelledError("the batch was stopped");
  };
}

TEST(ProgramChecksTest, OneIsForADeviceAndOneForAll) {
  v1::RunnerRequest asked;
  const auto checks = CheckPrograms(
      MakeCudaDevice(), MakeReady(4),
      [&](const v1::RunnerRequest& request,
          const worker::OnRunnerEvent& on_event, const std::stop_token& stop) {
        asked = request;
        return MeasureAll()(request, on_event, stop);
      });
  EXPECT_EQ(asked.device().device_count(), 4);
  EXPECT_EQ(asked.reference().num_partitions(), 1);
  ASSERT_THAT(asked.programs(), SizeIs(2));
  EXPECT_EQ(asked.programs(0).num_partitions(), 1);
  EXPECT_EQ(asked.programs(1).num_partitions(), 4);
  ASSERT_THAT(checks, SizeIs(2));
  for (const Check& check : checks) {
    EXPECT_EQ(check.state, Check::State::kOk) << check.detail;
    EXPECT_EQ(check.advice, "");
  }
  EXPECT_EQ(checks[0].name, "program");
  EXPECT_EQ(checks[1].name, "all-reduce");
}

TEST(ProgramChecksTest, OneDeviceHasNobodyToReduceWith) {
  const auto checks =
      CheckPrograms(MakeCudaDevice(), MakeReady(1), MeasureAll());
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_EQ(checks[0].state, Check::State::kOk) << checks[0].detail;
}

TEST(ProgramChecksTest, AnAllReduceThatFailsIsRedByItself) {
  const auto checks = CheckPrograms(MakeCudaDevice(), MakeReady(2),
                                    MeasureAll([](v1::ProfileResult& row) {
                                      if (row.key() != "all-reduce") return;
                                      row.set_outcome(v1::TIMED_OUT);
                                      row.set_reason("a run took too long");
                                    }));
  ASSERT_THAT(checks, SizeIs(2));
  EXPECT_EQ(checks[0].state, Check::State::kOk);
  EXPECT_EQ(checks[1].state, Check::State::kFail);
  EXPECT_EQ(checks[1].detail, "a run took too long");
  EXPECT_THAT(checks[1].advice, HasSubstr("nccl-tests"));
}

TEST(ProgramChecksTest, AWrongSumIsRed) {
  const auto checks = CheckPrograms(MakeCudaDevice(), MakeReady(2),
                                    MeasureAll([](v1::ProfileResult& row) {
                                      if (row.key() != "all-reduce") return;
                                      row.set_max_relative_difference(0.5);
                                    }));
  ASSERT_THAT(checks, SizeIs(2));
  EXPECT_EQ(checks[0].state, Check::State::kOk);
  EXPECT_EQ(checks[1].state, Check::State::kFail);
  EXPECT_THAT(checks[1].detail, HasSubstr("wrong by 50 %"));
}

TEST(ProgramChecksTest, ABatchThatFailsIsRedAtTheProgramItWasAt) {
  const auto checks = CheckPrograms(
      MakeCudaDevice(), MakeReady(2),
      [](const v1::RunnerRequest&, const worker::OnRunnerEvent& on_event,
         const std::stop_token&) {
        on_event(MakeStarted("reference"));
        return absl::UnavailableError("the runner was killed");
      });
  ASSERT_THAT(checks, SizeIs(2));
  EXPECT_EQ(checks[0].state, Check::State::kFail);
  EXPECT_EQ(checks[0].detail, "the runner was killed");
  EXPECT_EQ(checks[1].state, Check::State::kWarn);
}

TEST(ProgramChecksTest, TheLimitEndsAProgramThatHangs) {
  const auto checks = CheckPrograms(
      MakeCudaDevice(), MakeReady(2),
      RunUntilStopped({MakeStarted("all-reduce")}), absl::Milliseconds(10));
  ASSERT_THAT(checks, SizeIs(2));
  EXPECT_EQ(checks[0].state, Check::State::kWarn);
  EXPECT_EQ(checks[1].state, Check::State::kFail);
  EXPECT_THAT(checks[1].detail, HasSubstr("did not end within 10ms"));
}

TEST(ProgramChecksTest, DevicesThatOthersTimeOnAreNoFault) {
  const auto checks =
      CheckPrograms(MakeCudaDevice(), MakeReady(2),
                    RunUntilStopped({MakeWaiting()}), absl::Milliseconds(10));
  ASSERT_THAT(checks, SizeIs(2));
  for (const Check& check : checks) {
    EXPECT_EQ(check.state, Check::State::kWarn);
    EXPECT_THAT(check.detail, HasSubstr("another process times on them"));
  }
}

// It has them at last, and too little time.
TEST(ProgramChecksTest, AWaitThatTookTheTimeIsNoFault) {
  const auto checks = CheckPrograms(
      MakeCudaDevice(), MakeReady(1),
      RunUntilStopped({MakeWaiting()}, {MakeStarted("reference")}),
      absl::Seconds(1));
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_EQ(checks[0].state, Check::State::kWarn) << checks[0].detail;
}

TEST(ProgramChecksTest, AnAllReduceThatTakesTheTimeIsNotTheOthersFault) {
  v1::RunnerEvent late;
  late.mutable_result()->set_key("all-reduce");
  late.mutable_result()->set_outcome(v1::TIMED_OUT);
  late.mutable_result()->set_reason("a run took too long");
  const auto checks = CheckPrograms(
      MakeCudaDevice(), MakeReady(2),
      RunUntilStopped({late, MakeStarted("program")}), absl::Milliseconds(10));
  ASSERT_THAT(checks, SizeIs(2));
  EXPECT_EQ(checks[0].state, Check::State::kWarn) << checks[0].detail;
  EXPECT_EQ(checks[1].state, Check::State::kFail);
}

TEST(ProgramChecksTest, WhoeverStopsItIsToldNoFault) {
  const auto checks =
      CheckPrograms(MakeCudaDevice(), MakeReady(1),
                    [](const v1::RunnerRequest&, const worker::OnRunnerEvent&,
                       const std::stop_token&) -> absl::Status {
                      return absl::CancelledError("the batch was stopped");
                    });
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_EQ(checks[0].state, Check::State::kWarn) << checks[0].detail;
}

TEST(ProgramChecksTest, DevicesThatDoNotOpenRunNothing) {
  const auto checks = CheckPrograms(
      MakeCudaDevice(), absl::FailedPreconditionError("no device"),
      [](const v1::RunnerRequest&, const worker::OnRunnerEvent&,
         const std::stop_token&) -> absl::Status {
        ADD_FAILURE() << "a batch was run";
        return absl::OkStatus();
      });
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_EQ(checks[0].state, Check::State::kWarn);
}

}  // namespace
}  // namespace meshwright::cli
