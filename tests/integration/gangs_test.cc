// A coordinator, worker daemons of one device each, and the plugin double: they
// run programs for more devices together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "coordinator/daemon/coordinator.h"
#include "tests/integration/comes_true.h"
#include "tests/integration/double_device.h"
#include "tests/integration/process.h"

namespace meshwright::integration {
namespace {

using testing::Contains;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Rows = std::map<std::string, v1::ProfileResult>;

constexpr int kMembers = 4;

class GangsTest : public testing::Test {
 protected:
  void SetUp() override {
    daemon::Coordinator::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.listen_address = "127.0.0.1:0";
    coordinator_ =
        std::make_unique<daemon::Coordinator>(std::move(dependencies));
    ASSERT_TRUE(coordinator_->Start().ok());
  }

  // A folder with the double of CUPTI, or with a file that is no library, so
  // that none of the machine's is found.
  static std::string PlaceCupti(bool is_library) {
    const std::string folder = absl::StrCat(
        testing::TempDir(), "/cupti_of_gangs", is_library ? "" : "_none");
    const std::string file = folder + "/libcupti.so.13";
    std::filesystem::create_directories(folder);
    if (is_library) {
      std::filesystem::copy_file(
          MESHWRIGHT_DOUBLES "/nvidia/cu13/lib/libcupti.so.13", file,
          std::filesystem::copy_options::overwrite_existing);
    } else {
      std::ofstream(file) << "none\n";
    }
    return folder;
  }

  void StartWorkers(int count, bool with_cupti = false) {
    const std::vector<std::string> variables = {
        absl::StrCat("LD_LIBRARY_PATH=", PlaceCupti(with_cupti))};
    for (int i = 0; i < count; ++i) {
      workers_.push_back(std::make_unique<Process>(
          std::vector<std::string>{"meshwright-worker", "--coordinator",
                                   coordinator_->address(), "--platform",
                                   "cuda", "--plugin",
                                   MakeRequest({}, 1).device().plugin_path(),
                                   "--name", absl::StrCat("worker ", i)},
          variables));
    }
    ASSERT_TRUE(ComesTrue(
        [&] { return std::ssize(coordinator_->queue().Workers()) >= count; }));
  }

  v1::RunnerRequest MakeRequest(const std::vector<std::string>& keys,
                                int devices) const {
    v1::RunnerRequest request = device_.MakeRequest(keys);
    request.mutable_device()->set_device_count(devices);
    for (v1::Program& program : *request.mutable_programs()) {
      program.set_num_partitions(devices);
    }
    return request;
  }

  using OnStarted = jobs::Measurer::OnStarted;
  Rows Measure(const v1::RunnerRequest& request,
               const OnStarted& on_started = nullptr) {
    Rows rows;
    const auto measurer = coordinator_->NewMeasurer({});
    const auto device = measurer->Describe(request.device());
    EXPECT_TRUE(device.ok()) << device.status();
    const absl::Status status = measurer->Measure(
        request,
        [&](const v1::ProfileResult& result) {
          EXPECT_TRUE(rows.emplace(result.key(), result).second);
          return absl::OkStatus();
        },
        on_started);
    EXPECT_TRUE(status.ok()) << status;
    return rows;
  }

  base::SystemClock clock_;
  DoubleDevice device_{"devices 1\nrun_ns 2000000"};
  std::unique_ptr<daemon::Coordinator> coordinator_;
  std::vector<std::unique_ptr<Process>> workers_;
};

// The double fails where two members are at different programs.
TEST_F(GangsTest, WorkersRunTogetherWhatNoneHasTheDevicesFor) {
  StartWorkers(kMembers);
  const Rows rows = Measure(MakeRequest({"a", "b", "refuse"}, kMembers));
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows.at("refuse").outcome(), v1::COMPILE_FAILED);
  for (const std::string key : {"a", "b"}) {
    const v1::ProfileResult& row = rows.at(key);
    ASSERT_EQ(row.outcome(), v1::MEASURED) << row.reason();
    // The double's programs take as long as its launch.
    EXPECT_GE(row.measurement().minimum_ns() + row.measurement().launch_ns(),
              2'000'000);
    EXPECT_THAT(row.measurement().samples_ns(), SizeIs(Ge(12)));
    EXPECT_THAT(row.measurement().anchors(), SizeIs(2));
  }
  // Rank 0 compiled each program for all; both anchors every member itself.
  EXPECT_THAT(device_.ReadCompiles(), SizeIs(2 + 2 * kMembers));
  // Each ran each program equally often.
  EXPECT_EQ(device_.ReadRuns().size() % kMembers, 0U);
}

TEST_F(GangsTest, ANanOfOneMemberIsFound) {
  StartWorkers(kMembers);
  const Rows rows = Measure(MakeRequest({"a", "spoil"}, kMembers));
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows.at("a").outcome(), v1::MEASURED) << rows.at("a").reason();
  EXPECT_EQ(rows.at("spoil").outcome(), v1::CRASHED);
  EXPECT_THAT(rows.at("spoil").reason(), HasSubstr("on rank 3: NaN in output"));
}

// The double of CUPTI sees no kernel, and the row says so.
TEST_F(GangsTest, CollectorsWatchAllMembers) {
  StartWorkers(kMembers, /*with_cupti=*/true);
  const Rows rows = Measure(MakeRequest({"a", "b"}, kMembers));
  ASSERT_THAT(rows, SizeIs(2));
  for (const auto& [key, row] : rows) {
    ASSERT_EQ(row.outcome(), v1::MEASURED) << row.reason();
    ASSERT_THAT(row.measurement().kernel_times(), SizeIs(1));
    EXPECT_THAT(row.measurement().kernel_times(0).faults(),
                Contains("the collector saw no kernel"));
    EXPECT_THAT(row.measurement().anchors(), IsEmpty());
  }
  EXPECT_EQ(device_.ReadRuns().size() % kMembers, 0U);
}

TEST_F(GangsTest, AKilledWorkersPlaceIsTakenByAnotherOne) {
  StartWorkers(kMembers + 1);
  bool is_killed = false;
  const Rows rows =
      Measure(MakeRequest({"a", "b"}, kMembers),
              [&](const v1::RunnerEvent::Started& started) {
                if (started.phase() != v1::RunnerEvent::Started::MEASURE ||
                    std::exchange(is_killed, true)) {
                  return;
                }
                workers_[1]->Signal(SIGKILL);
              });
  EXPECT_TRUE(is_killed);
  ASSERT_THAT(rows, SizeIs(2));
  for (const auto& [key, row] : rows) {
    EXPECT_EQ(row.outcome(), v1::MEASURED) << row.reason();
  }
  const auto jobs = coordinator_->queue().Jobs();
  ASSERT_THAT(jobs, SizeIs(1));
  EXPECT_EQ(jobs[0].state(), v1::JobSummary::DONE);
}

TEST_F(GangsTest, AProgramThatEndsRunnersCostsOnlyItself) {
  StartWorkers(kMembers);
  const Rows rows = Measure(MakeRequest({"a", "crash"}, kMembers));
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows.at("a").outcome(), v1::MEASURED) << rows.at("a").reason();
  EXPECT_EQ(rows.at("crash").outcome(), v1::CRASHED);
  EXPECT_THAT(rows.at("crash").reason(), HasSubstr("SIGABRT"));
}

}  // namespace
}  // namespace meshwright::integration
