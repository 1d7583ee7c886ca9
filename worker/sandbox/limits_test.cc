// Limits of a program: memory, and time in the compiler. Real runner
// and plugin; no test needs the memory that it asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <map>
#include <string>

#include "worker/pjrt/testing/modules.h"
#include "worker/sandbox/runner_process.h"

namespace meshwright::worker::sandbox {
namespace {

using ::testing::HasSubstr;
using Started = v1::RunnerEvent::Started;
using Rows = std::map<std::string, v1::ProfileResult>;

// One device; the logarithms of so many floats by key.
v1::RunnerRequest MakeLogRequest(
    const std::map<std::string, int64_t>& elements) {
  v1::RunnerRequest request;
  request.mutable_device()->set_platform("cpu");
  request.mutable_device()->set_device_count(1);
  request.mutable_options()->set_maximum_samples(12);
  request.mutable_options()->set_minimum_time_ns(1);
  for (const auto& [key, count] : elements) {
    v1::Program& program = *request.add_programs();
    program.set_key(key);
    program.set_hlo_module(pjrt::LogModule(count).SerializeAsString());
    program.set_num_partitions(1);
    program.add_inputs()->set_kind(v1::InputSpec::POSITIVE);
  }
  return request;
}

absl::Status Measure(
    const v1::RunnerRequest& request, RunOptions options, Rows& rows,
    const std::function<void(const Started&)>& on_started = {}) {
  options.scratch_folder = ::testing::TempDir();
  return RunBatch(
      request,
      [&](const v1::RunnerEvent& event) {
        if (event.has_started() && on_started) on_started(event.started());
        if (!event.has_result()) return;
        EXPECT_TRUE(rows.emplace(event.result().key(), event.result()).second);
      },
      options);
}

int64_t TotalMemory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  int64_t kibibytes = 0;
  while (file >> name && name != "MemTotal:") {
  }
  file >> kibibytes;
  return kibibytes * 1024;
}

// Input and output of a logarithm are as large as each other.
int64_t ElementsIn(int64_t bytes) { return bytes / 8; }

TEST(LimitsTest, MoreMemoryThanTheDeviceHasIsARow) {
  Rows rows;
  const absl::Status status = Measure(
      MakeLogRequest({{"fits", 1000}, {"huge", ElementsIn(int64_t{1} << 42)}}),
      {}, rows);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(rows["huge"].outcome(), v1::OUT_OF_MEMORY);
  EXPECT_THAT(rows["huge"].reason(), HasSubstr("needs 4194304 MiB"));
  EXPECT_EQ(rows["fits"].outcome(), v1::MEASURED) << rows["fits"].reason();
}

// Tomorrow it may fit: nothing that a store keeps.
TEST(LimitsTest, MoreMemoryThanIsFreeNowIsTransient) {
  const int64_t nearly_all = TotalMemory() / 100 * 98;
  ASSERT_GT(nearly_all, 0);
  Rows rows;
  const absl::Status status = Measure(
      MakeLogRequest({{"fits", 1000}, {"large", ElementsIn(nearly_all)}}), {},
      rows);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(rows["large"].outcome(), v1::TRANSIENT);
  EXPECT_THAT(rows["large"].reason(), HasSubstr("are free now"));
  EXPECT_EQ(rows["fits"].outcome(), v1::MEASURED) << rows["fits"].reason();
}

// The rows tell it, so that a validation takes another reference.
TEST(LimitsTest, AReferenceThatNoDeviceHoldsIsSaidInEveryRow) {
  v1::RunnerRequest request = MakeLogRequest({{"one", 1000}, {"two", 2000}});
  *request.mutable_reference() =
      MakeLogRequest({{"huge", ElementsIn(int64_t{1} << 42)}}).programs(0);
  Rows rows;
  const absl::Status status = Measure(request, {}, rows);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(rows.size(), 2u);
  for (const auto& [key, row] : rows) {
    EXPECT_EQ(row.outcome(), v1::TRANSIENT) << key;
    EXPECT_TRUE(row.reference_too_large()) << key;
    EXPECT_THAT(row.reason(), HasSubstr("needs 4194304 MiB"));
  }
}

TEST(LimitsTest, ACompileThatTakesTooLongIsARow) {
  v1::RunnerRequest request = MakeLogRequest({{"after", 8}, {"stuck", 9}});
  request.mutable_options()->set_compile_time_limit_ns(5'000'000'000);
  int child = 0;
  RunOptions options;
  options.compile_threads = 1;
  options.grace = absl::ZeroDuration();
  options.on_child = [&](int pid) { child = pid; };
  Rows rows;
  const absl::Status status =
      Measure(request, options, rows, [&](const Started& started) {
        // The compiler makes no progress from here on.
        if (started.key() == "stuck" && started.phase() == Started::COMPILE) {
          kill(child, SIGSTOP);
        }
      });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(rows["stuck"].outcome(), v1::TIMED_OUT);
  EXPECT_EQ(rows["stuck"].reason(), "compiling took longer than 5s");
  EXPECT_EQ(rows["after"].outcome(), v1::MEASURED) << rows["after"].reason();
}

}  // namespace
}  // namespace meshwright::worker::sandbox
