// The runner in its sandbox on a plugin that sleeps, fails, hangs and lies.
#include <gmock/gmock.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/integration/double_device.h"
#include "worker/sandbox/runner_process.h"

namespace meshwright::integration {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAre;
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

TEST(PjrtDoubleTest, ARunThatFailsThriceKeepsWhatWasPrinted) {
  const DoubleDevice device("run_ns 1000000");
  Rows rows;
  const absl::Status status =
      device.Run(device.MakeRequest({"fault", "good"}), rows);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(rows["fault"].outcome(), v1::CRASHED) << rows["fault"].reason();
  EXPECT_THAT(rows["fault"].log(), HasSubstr("fault 31 in engine 7"));
  EXPECT_EQ(rows["good"].outcome(), v1::MEASURED) << rows["good"].reason();
  EXPECT_EQ(rows["good"].log(), "");
}

// Of one device: another that is not used has memory to spare.
TEST(PjrtDoubleTest, WhatNeedsMoreThanTheDeviceHasIsOutOfMemory) {
  const DoubleDevice device("memory_bytes 6000");
  Rows rows;
  const absl::Status status = device.Run(device.MakeRequest({"a"}), rows);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(rows["a"].outcome(), v1::OUT_OF_MEMORY) << rows["a"].reason();
}

// Autotuning needs memory of the device, which others may have today.
TEST(PjrtDoubleTest, ACompilerThatLacksMemoryIsTransient) {
  Rows rows;
  const DoubleDevice device("");
  const absl::Status status = device.Run(device.MakeRequest({"crowded"}), rows);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(rows["crowded"].outcome(), v1::TRANSIENT)
      << rows["crowded"].reason();
  const DoubleDevice small("memory_bytes 6000");
  ASSERT_TRUE(small.Run(small.MakeRequest({"crowded"}), rows).ok());
  EXPECT_EQ(rows["crowded"].outcome(), v1::OUT_OF_MEMORY)
      << "its inputs alone do not fit";
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

// As where they wait for the device that they tune kernels on: the last one is
// through long after the last has begun.
TEST(PjrtDoubleTest, CompilationsThatTakeTurnsAreSignsOfLife) {
  const DoubleDevice device("compile_ns 1000000000\ncompile_serial 1");
  v1::RunnerRequest request = device.MakeRequest({"a", "b", "c", "d", "e"});
  request.mutable_options()->set_compile_time_limit_ns(3000 * kMillisecond);
  int children = 0;
  worker::sandbox::RunOptions options;
  options.compile_threads = 5;
  options.grace = absl::ZeroDuration();
  options.on_child = [&](int) { ++children; };
  Rows rows;
  const absl::Status status = worker::sandbox::RunBatch(
      request,
      [&](const v1::RunnerEvent& event) {
        if (event.has_result()) rows[event.result().key()] = event.result();
      },
      options);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(children, 1);
  ASSERT_THAT(rows, SizeIs(5));
  for (const auto& [key, row] : rows) {
    EXPECT_EQ(row.outcome(), v1::MEASURED) << key << row.reason();
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

// Beside a driver and libraries of our own. What only a CPU has stays empty,
// and so does what this machine is not: partitioned, of several hosts, solo.
TEST(PjrtDoubleTest, EveryPartOfAnAcceleratorsFingerprintIsSet) {
  constexpr char kNvidia[] = MESHWRIGHT_DOUBLES "/nvidia/";
  setenv("LD_LIBRARY_PATH",
         absl::StrCat(kNvidia, "cu13/lib:", kNvidia, "cudnn/lib:", kNvidia,
                      "nccl/lib")
             .c_str(),
         1);
  setenv("MESHWRIGHT_XLA_FLAGS", "--flag", 1);
  const DoubleDevice device("devices 2");
  const auto described = device.Describe(2);
  unsetenv("LD_LIBRARY_PATH");
  unsetenv("MESHWRIGHT_XLA_FLAGS");
  ASSERT_TRUE(described.ok()) << described.status();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  described->GetReflection()->ListFields(*described, &fields);
  std::vector<std::string> names;
  for (const auto* field : fields) names.emplace_back(field->name());
  EXPECT_THAT(
      names, UnorderedElementsAre("platform", "device_kind", "devices_per_host",
                                  "memory_gib", "driver_version", "plugin",
                                  "link_class", "power_limit_watts",
                                  "clock_policy", "xla_flags", "libraries"));
  EXPECT_EQ(described->devices_per_host(), 2);
  EXPECT_EQ(described->link_class(), "NVLink 4 x2, PCIe 5 x16");
  EXPECT_THAT(described->libraries(), HasSubstr("cuDNN 91002, NCCL 22703"));
}

TEST(PjrtDoubleTest, TheOperatorChoosesHowMuchMemoryProgramsHave) {
  const DoubleDevice device("memory_bytes 8589934592");
  const auto whole = device.Describe(1);
  setenv("MESHWRIGHT_MEMORY_FRACTION", "0.5", 1);
  const auto half = device.Describe(1);
  setenv("MESHWRIGHT_MEMORY_FRACTION", "90", 1);
  const auto none = device.Describe(1);
  unsetenv("MESHWRIGHT_MEMORY_FRACTION");
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->memory_gib(), 8);
  ASSERT_TRUE(half.ok()) << half.status();
  EXPECT_EQ(half->memory_gib(), 4);
  EXPECT_THAT(std::string(none.status().message()),
              HasSubstr("is \"90\"; give a number above 0 and at most 1"));
}

// Six runs of 0.7 s, where a run has 0.9 s and the runner 2 s more.
TEST(PjrtDoubleTest, RunsThatACollectorWatchesAreSignsOfLife) {
  const std::string folder =
      absl::StrCat(testing::TempDir(), "/cupti_of_slow_runs");
  const std::string library = "/libcupti.so.13";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(
      absl::StrCat(MESHWRIGHT_DOUBLES, "/nvidia/cu13/lib", library),
      folder + library, std::filesystem::copy_options::overwrite_existing);
  setenv("LD_LIBRARY_PATH", folder.c_str(), 1);
  const DoubleDevice device("run_ns 700000000");
  v1::RunnerRequest request = device.MakeRequest({"a"});
  request.mutable_options()->set_program_time_limit_ns(900 * kMillisecond);
  Rows rows;
  const absl::Status status = device.Run(request, rows);
  unsetenv("LD_LIBRARY_PATH");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(rows["a"].outcome(), v1::MEASURED) << rows["a"].reason();
  EXPECT_THAT(rows["a"].measurement().kernel_times(), SizeIs(1));
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
