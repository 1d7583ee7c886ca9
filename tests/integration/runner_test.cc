// Coordinator, worker daemons, the real runner and the real CPU plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <latch>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "coordinator/daemon/coordinator.h"
#include "worker/pjrt/testing/modules.h"
#include "worker/runner/small_modules.h"
#include "worker/sandbox/runner_process.h"
#include "worker/service/worker.h"

namespace meshwright::integration {
namespace {

using testing::SizeIs;
using Rows = std::map<std::string, v1::ProfileResult>;

class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv(
        "MESHWRIGHT_RUNNER",
        (std::string(getenv("MESHWRIGHT_BUILD_DIR")) + "/bin/meshwright-runner")
            .c_str(),
        1);
    daemon::Coordinator::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.listen_address = "127.0.0.1:0";
    coordinator_ =
        std::make_unique<daemon::Coordinator>(std::move(dependencies));
    ASSERT_TRUE(coordinator_->Start().ok());
  }

  // A worker whose child dies by a signal when it comes to a program with the
  // key "crash", and which tells of every program it comes to.
  std::unique_ptr<worker::Worker> NewWorker(
      const std::string& name,
      std::function<void(const std::string&)> on_started = nullptr) {
    worker::Worker::Dependencies dependencies;
    dependencies.coordinator_address = coordinator_->address();
    dependencies.name = name;
    dependencies.devices = Device();
    dependencies.run_batch = [this, on_started](
                                 const v1::RunnerRequest& request,
                                 const worker::OnRunnerEvent& on_event,
                                 std::stop_token stop) {
      worker::sandbox::RunOptions options;
      options.stop = std::move(stop);
      int child = 0;
      options.on_child = [&](int pid) { last_child_ = child = pid; };
      return worker::sandbox::RunBatch(
          request,
          [&](const v1::RunnerEvent& event) {
            on_event(event);
            if (!event.has_started()) return;
            if (event.started().key() == "crash") kill(child, SIGSEGV);
            if (on_started) on_started(event.started().key());
          },
          options);
    };
    return std::make_unique<worker::Worker>(std::move(dependencies));
  }

  static v1::DeviceSpec Device() {
    v1::DeviceSpec device;
    device.set_platform("cpu");
    device.set_device_count(1);
    return device;
  }

  // Programs that negate one number, but "no compile", which is no program.
  static v1::RunnerRequest Request(const std::vector<std::string>& keys) {
    v1::RunnerRequest request;
    *request.mutable_device() = Device();
    const std::string module =
        worker::runner::LaunchModule().SerializeAsString();
    for (const std::string& key : keys) {
      v1::Program& program = *request.add_programs();
      program.set_key(key);
      program.set_hlo_module(key == "no compile" ? "\x01garbage" : module);
      program.set_num_partitions(1);
      program.add_inputs()->set_kind(v1::InputSpec::NORMAL);
    }
    return request;
  }

  absl::Status Measure(const v1::RunnerRequest& request, Rows* rows) {
    const auto measurer = coordinator_->NewMeasurer({});
    const auto described = measurer->Describe(request.device());
    if (!described.ok()) return described.status();
    return measurer->Measure(
        request,
        [&](const v1::ProfileResult& result) {
          EXPECT_TRUE(rows->emplace(result.key(), result).second);
          return absl::OkStatus();
        },
        nullptr);
  }

  base::SystemClock clock_;
  std::atomic<int> last_child_ = 0;
  std::unique_ptr<daemon::Coordinator> coordinator_;
};

TEST_F(RunnerTest, ACrashAndACompileErrorAreRowsAmongTheOthers) {
  const auto worker = NewWorker("a");
  const absl::Status started = worker->Start();
  ASSERT_TRUE(started.ok()) << started;
  Rows rows;
  const absl::Status status =
      Measure(Request({"one", "no compile", "crash", "two"}), &rows);
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_THAT(rows, SizeIs(4));
  for (const char* key : {"one", "two"}) {
    EXPECT_EQ(rows[key].outcome(), v1::MEASURED) << rows[key].reason();
    EXPECT_GT(rows[key].measurement().minimum_ns(), 0);
  }
  EXPECT_EQ(rows["no compile"].outcome(), v1::COMPILE_FAILED);
  EXPECT_NE(rows["no compile"].reason(), "");
  EXPECT_EQ(rows["crash"].outcome(), v1::CRASHED);
  EXPECT_NE(rows["crash"].reason(), "");
}

TEST_F(RunnerTest, AReferenceThatNoDeviceHoldsComesThroughAsThat) {
  const auto worker = NewWorker("a");
  ASSERT_TRUE(worker->Start().ok());
  v1::RunnerRequest request = Request({"one", "two"});
  v1::Program& reference = *request.mutable_reference();
  reference.set_key("reference");
  reference.set_hlo_module(
      worker::pjrt::LogModule(int64_t{1} << 39).SerializeAsString());
  reference.set_num_partitions(1);
  reference.add_inputs()->set_kind(v1::InputSpec::POSITIVE);
  Rows rows;
  const absl::Status status = Measure(request, &rows);
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_THAT(rows, SizeIs(2));
  for (const auto& [key, row] : rows) {
    EXPECT_TRUE(row.reference_too_large()) << row.reason();
  }
}

TEST_F(RunnerTest, AKilledWorkersBatchEndsOnAnotherAndNothingStaysBehind) {
  std::latch began{1};
  const auto lost = NewWorker("lost", [&](const std::string&) {
    if (!began.try_wait()) began.count_down();
  });
  ASSERT_TRUE(lost->Start().ok());
  Rows rows;
  absl::Status status;
  std::thread measuring([&] {
    status = Measure(Request({"one", "two", "three"}), &rows);
  });
  began.wait();
  lost->Stop();
  EXPECT_NE(kill(last_child_, 0), 0) << "the runner outlived its worker";
  const auto other = NewWorker("other");
  ASSERT_TRUE(other->Start().ok());
  measuring.join();
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_THAT(rows, SizeIs(3));
  for (const auto& [key, row] : rows) {
    EXPECT_EQ(row.outcome(), v1::MEASURED) << row.reason();
  }
}

TEST_F(RunnerTest, AnUnknownPluginIsOneSentence) {
  v1::DeviceSpec device = Device();
  device.set_plugin_path("/nonexistent/plugin.so");
  const auto ready =
      worker::DescribeDevices(device, [](const v1::RunnerRequest& request,
                                         const worker::OnRunnerEvent& on_event,
                                         const std::stop_token&) {
        return worker::sandbox::RunBatch(request, on_event, {});
      });
  EXPECT_EQ(ready.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(ready.status().message()),
              testing::HasSubstr("/nonexistent/plugin.so"));
}

}  // namespace
}  // namespace meshwright::integration
