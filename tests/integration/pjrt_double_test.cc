// The runner in its sandbox on a plugin that sleeps, fails, hangs and lies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/status/status.h"
#include "tests/integration/double_device.h"

namespace meshwright::integration {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using Rows = std::map<std::string, v1::ProfileResult>;

constexpr int64_t kMillisecond = 1'000'000;

TEST(PjrtDoubleTest, ARowHasTheTimeAndTheMemoryOfItsProgram) {
  const DoubleDevice device("run_ns 5000000");
  Rows rows;
  const absl::Status status = device.Run(device.MakeRequest({"a"}), rows);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(rows["a"].outcome(), v1::MEASURED) << rows["a"].reason();
  const v1::Measurement& row = rows["a"].measurement();
  EXPECT_GE(row.minimum_ns(), 5 * kMillisecond);
  EXPECT_LT(row.minimum_ns(), 50 * kMillisecond);  // not the batch's, say
  EXPECT_EQ(row.memory().argument_bytes(), 2 * 4096);
  EXPECT_EQ(row.memory().alias_bytes(), 4096);
}

TEST(PjrtDoubleTest, AFailureCostsTheProgramThatItHappensIn) {
  const DoubleDevice device("run_ns 1000000");
  v1::RunnerRequest request = device.MakeRequest(
      {"first", "refuse", "exhaust", "crash", "lie", "hang", "last"});
  request.mutable_options()->set_version(1);
  request.mutable_options()->set_program_time_limit_ns(2000 * kMillisecond);
  Rows rows;
  const absl::Status status = device.Run(request, rows);
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_THAT(rows, SizeIs(7));
  for (const char* const key : {"first", "last", "lie"}) {
    EXPECT_EQ(rows[key].outcome(), v1::MEASURED) << key << rows[key].reason();
  }
  EXPECT_EQ(rows["refuse"].outcome(), v1::COMPILE_FAILED);
  EXPECT_THAT(rows["refuse"].reason(), HasSubstr("refuses the module refuse"));
  EXPECT_EQ(rows["crash"].outcome(), v1::CRASHED);
  EXPECT_EQ(rows["hang"].outcome(), v1::TIMED_OUT);
  // Others may have had the memory: it is no row of the store.
  EXPECT_NE(rows["exhaust"].outcome(), v1::MEASURED);
  EXPECT_THAT(rows["exhaust"].reason(), HasSubstr("no memory left"));
}

// Of one device: another that is not used has memory to spare.
TEST(PjrtDoubleTest, WhatNeedsMoreThanTheDeviceHasIsOutOfMemory) {
  const DoubleDevice device("memory_bytes 6000");
  Rows rows;
  const absl::Status status = device.Run(device.MakeRequest({"a"}), rows);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(rows["a"].outcome(), v1::OUT_OF_MEMORY) << rows["a"].reason();
}

TEST(PjrtDoubleTest, ProgramsAreCompiledOnceAndRunOneAtATime) {
  const DoubleDevice device("run_ns 1000000\ncompile_ns 20000000");
  Rows rows;
  ASSERT_TRUE(device.Run(device.MakeRequest({"a", "b", "c"}), rows).ok());
  EXPECT_GE(device.ReadCompiles().size(), 3u);
  const auto runs = device.ReadRuns();
  ASSERT_GE(runs.size(), 3u * 12);
  for (size_t i = 1; i < runs.size(); ++i) {
    EXPECT_GE(runs[i].begin_ns, runs[i - 1].end_ns);
  }
}

// One device stands for four: it runs a quarter of the program.
TEST(PjrtDoubleTest, OneDeviceStandsForAMesh) {
  const DoubleDevice device("devices 1\nrun_ns 0\nrun_ns_per_element 10000");
  v1::RunnerRequest request = device.MakeRequest({"a"});
  Rows alone;
  ASSERT_TRUE(device.Run(request, alone).ok());
  request.mutable_device()->set_device_count(4);
  request.mutable_device()->set_solo(true);
  request.mutable_programs(0)->set_num_partitions(4);
  Rows solo;
  const absl::Status status = device.Run(request, solo);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(solo["a"].outcome(), v1::MEASURED) << solo["a"].reason();
  const double share =
      static_cast<double>(solo["a"].measurement().minimum_ns()) /
      static_cast<double>(alone["a"].measurement().minimum_ns());
  EXPECT_GE(share, 0.2);
  EXPECT_LT(share, 0.5);
  EXPECT_EQ(solo["a"].measurement().memory().argument_bytes(), 2 * 1024);
}

TEST(PjrtDoubleTest, FewerDevicesThanTheMeshHasIsOneSentence) {
  const DoubleDevice device("devices 2");
  v1::RunnerRequest request = device.MakeRequest({"a"});
  request.mutable_device()->set_device_count(4);
  Rows rows;
  const absl::Status status = device.Run(request, rows);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the mesh has 4 devices, but the plugin"));
}

TEST(PjrtDoubleTest, APluginThatDoesNotStartIsOneSentence) {
  Rows rows;
  const DoubleDevice refused("initialize refuse");
  const absl::Status refusal =
      refused.Run(refused.MakeRequest({"a", "b"}), rows);
  EXPECT_TRUE(absl::IsFailedPrecondition(refusal)) << refusal;
  EXPECT_THAT(std::string(refusal.message()),
              HasSubstr("does not start: the driver is older"));
  const DoubleDevice crashed("initialize crash");
  const absl::Status crash = crashed.Run(crashed.MakeRequest({"a", "b"}), rows);
  EXPECT_TRUE(absl::IsUnavailable(crash)) << crash;
  EXPECT_THAT(rows, SizeIs(0));
}

}  // namespace
}  // namespace meshwright::integration
