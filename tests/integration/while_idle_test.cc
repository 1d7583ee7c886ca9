// Workers that have their GPU while nobody else does: meshwright-worker
// --while-idle with the doubles of the plugin and of NVML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "coordinator/daemon/coordinator.h"
#include "tests/integration/comes_true.h"
#include "tests/integration/double_device.h"
#include "tests/integration/process.h"
#include "worker/devices/device_users.h"

namespace meshwright::integration {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Rows = std::map<std::string, v1::ProfileResult>;

constexpr absl::Duration kToLeave = absl::Seconds(2);

class WhileIdleTest : public testing::Test {
 protected:
  void SetUp() override {
    SetOthers("");
    daemon::Coordinator::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.listen_address = "127.0.0.1:0";
    coordinator_ =
        std::make_unique<daemon::Coordinator>(std::move(dependencies));
    ASSERT_TRUE(coordinator_->Start().ok());
  }

  // The processes that NVML lists.
  void SetOthers(const std::string& numbers) {
    const std::string next = absl::StrCat(others_, ".next");
    std::ofstream(next) << numbers << "\n";
    ASSERT_EQ(rename(next.c_str(), others_.c_str()), 0);
  }

  std::unique_ptr<Process> StartWorker(const std::string& name,
                                       const std::vector<std::string>& more) {
    std::vector<std::string> words = {"meshwright-worker",
                                      "--coordinator",
                                      coordinator_->address(),
                                      "--platform",
                                      "cuda",
                                      "--name",
                                      name,
                                      "--plugin"};
    words.push_back(device_.MakeRequest({}).device().plugin_path());
    words.insert(words.end(), more.begin(), more.end());
    return std::make_unique<Process>(
        words, std::vector<std::string>{
                   absl::StrCat("LD_LIBRARY_PATH=", MESHWRIGHT_DOUBLES,
                                "/nvidia/cu13/lib"),
                   absl::StrCat("NVML_DOUBLE_PROCESSES=", others_)});
  }
  std::unique_ptr<Process> StartIdleWorker() {
    return StartWorker("idle", {"--while-idle", "--idle-seconds", "0"});
  }

  std::vector<std::string> Attached() {
    std::vector<std::string> names;
    for (const auto& worker : coordinator_->queue().Workers()) {
      names.push_back(worker.id());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  void Await(const std::vector<std::string>& names) {
    ASSERT_TRUE(ComesTrue([&] { return Attached() == names; }));
  }

  // Measures; `on_measuring` is called on a thread of its own once the first
  // program runs.
  Rows Measure(const std::function<void()>& on_measuring) {
    const v1::RunnerRequest request = device_.MakeRequest({"a", "b", "c"});
    Rows rows;
    std::optional<std::jthread> beside;
    const auto measurer = coordinator_->NewMeasurer({});
    const absl::Status status = measurer->Measure(
        request,
        [&](const v1::ProfileResult& result) {
          EXPECT_TRUE(rows.emplace(result.key(), result).second);
          return absl::OkStatus();
        },
        [&](const v1::RunnerEvent::Started& started) {
          if (started.phase() == v1::RunnerEvent::Started::MEASURE &&
              !beside.has_value()) {
            beside.emplace(on_measuring);
          }
        });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(beside.has_value());
    return rows;
  }

  static void ExpectAllMeasured(const Rows& rows) {
    ASSERT_THAT(rows, SizeIs(3));
    for (const auto& [key, row] : rows) {
      EXPECT_EQ(row.outcome(), v1::MEASURED) << key << ": " << row.reason();
    }
  }

  base::SystemClock clock_;
  const std::string others_ = absl::StrCat(testing::TempDir(), "/others");
  DoubleDevice device_{"devices 1\nrun_ns 50000000"};
  std::unique_ptr<daemon::Coordinator> coordinator_;
};

TEST_F(WhileIdleTest, ASignalTakesTheDeviceAndAnotherWorkerGoesOn) {
  const auto idle = StartIdleWorker();
  Await({"idle"});
  std::unique_ptr<Process> second;
  const Rows rows = Measure([&] {
    const absl::Time told = absl::Now();
    idle->Signal(SIGTERM);
    EXPECT_EQ(idle->Wait(), 0) << idle->Errors();
    EXPECT_LT(absl::Now() - told, kToLeave) << idle->Errors();
    EXPECT_THAT(Attached(), IsEmpty());
    second = StartWorker("second", {});
  });
  ExpectAllMeasured(rows);
  EXPECT_THAT(Attached(), ElementsAre("second"));
}

TEST_F(WhileIdleTest, AProcessOnItsGpuSendsItAwayUntilThatIsGone) {
  if (!worker::devices::HasNumbersOfHost()) {
    GTEST_SKIP() << "processes have other numbers here than the host's";
  }
  const auto idle = StartIdleWorker();
  Await({"idle"});
  std::unique_ptr<Process> second;
  const Rows rows = Measure([&] {
    const absl::Time began = absl::Now();
    SetOthers(absl::StrCat(getpid()));
    Await({});
    EXPECT_LT(absl::Now() - began, kToLeave);
    second = StartWorker("second", {});
  });
  ExpectAllMeasured(rows);
  EXPECT_THAT(Attached(), ElementsAre("second"));
  SetOthers("");
  Await({"idle", "second"});
  idle->Signal(SIGTERM);
  EXPECT_EQ(idle->Wait(), 0);
  EXPECT_THAT(idle->Errors(),
              HasSubstr(absl::StrCat("it leaves, as process ", getpid())));
}

TEST_F(WhileIdleTest, ADeviceInUseIsLeftAlone) {
  SetOthers("1");
  const auto idle = StartIdleWorker();
  const auto second = StartWorker("second", {});
  Await({"second"});
  EXPECT_THAT(device_.ReadRuns(), IsEmpty());
  SetOthers("");
  Await({"idle", "second"});
}

}  // namespace
}  // namespace meshwright::integration
