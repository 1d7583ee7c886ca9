// Beside processes that keep the processors busy. Real runner and plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "worker/pjrt/testing/modules.h"
#include "worker/sandbox/runner_process.h"

namespace meshwright::worker::sandbox {
namespace {

using ::testing::Contains;

// As many as there are processors.
class BusyProcesses {
 public:
  BusyProcesses() {
    const pid_t self = getpid();
    for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) {
      const pid_t child = fork();
      if (child == 0) {
        while (getppid() == self) {
        }
        _exit(0);
      }
      children_.push_back(child);
    }
  }
  ~BusyProcesses() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> children_;
};

TEST(BusyMachineTest, RowsMadeBesideOthersSaySo) {
  setenv("MESHWRIGHT_CALM_SECONDS", "0", 1);
  const BusyProcesses others;
  v1::RunnerRequest request;
  request.mutable_device()->set_platform("cpu");
  request.mutable_device()->set_device_count(1);
  request.mutable_options()->set_maximum_samples(12);
  request.mutable_options()->set_minimum_time_ns(1);
  v1::Program& program = *request.add_programs();
  program.set_key("beside");
  program.set_hlo_module(pjrt::LogModule(1 << 22).SerializeAsString());
  program.set_num_partitions(1);
  program.add_inputs()->set_kind(v1::InputSpec::POSITIVE);
  v1::ProfileResult row;
  RunOptions options;
  options.scratch_folder = ::testing::TempDir();
  const absl::Status status = RunBatch(
      request,
      [&](const v1::RunnerEvent& event) {
        if (event.has_result()) row = event.result();
      },
      options);
  unsetenv("MESHWRIGHT_CALM_SECONDS");
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(row.outcome(), v1::MEASURED) << row.reason();
  EXPECT_GT(row.measurement().other_load(), 0.1);
  EXPECT_THAT(row.measurement().noise(), Contains(v1::BUSY_MACHINE));
  EXPECT_EQ(row.measurement().quality(), v1::NOISY);
}

}  // namespace
}  // namespace meshwright::worker::sandbox
