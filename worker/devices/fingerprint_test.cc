#include "worker/devices/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace meshwright::worker::devices {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class FingerprintTest : public testing::Test {
 protected:
  FingerprintTest()
      : root_(fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(root_);
  }
  void Write(const std::string& path, const std::string& content) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << content;
  }
  const fs::path root_;
};

TEST_F(FingerprintTest, ProcessorsSayWhatTimesDependOn) {
  Write("proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Fast CPU 9\n"
        "flags\t\t: fpu avx2 sse4_2 constant_tsc avx512f\n\n"
        "processor\t: 1\nmodel name\t: Fast CPU 9\nflags\t\t: fpu\n");
  Write("proc/meminfo", "MemFree: 5 kB\nMemTotal:       24500000 kB\n");
  fs::create_directories(root_ / "sys/devices/system/node/node0");
  fs::create_directories(root_ / "sys/devices/system/node/node1");
  fs::create_directories(root_ / "sys/devices/system/node/power");
  v1::DeviceFingerprint fingerprint;
  DescribeProcessors(fingerprint, root_);
  EXPECT_EQ(fingerprint.processor(), "Fast CPU 9");
  EXPECT_THAT(fingerprint.instruction_sets(),
              ElementsAre("avx2", "avx512f", "sse4_2"));
  EXPECT_EQ(fingerprint.memory_gib(), 23);
  EXPECT_EQ(fingerprint.numa_nodes(), 2);
  EXPECT_GT(fingerprint.cores(), 0);
}

TEST_F(FingerprintTest, AContainersQuotaLimitsItsCores) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  v1::DeviceFingerprint fingerprint;
  DescribeProcessors(fingerprint, root_);
  EXPECT_EQ(fingerprint.cores(), 1);
}

TEST_F(FingerprintTest, AMachineThatSaysNothingIsDescribedByItsCores) {
  v1::DeviceFingerprint fingerprint;
  DescribeProcessors(fingerprint, root_);
  DescribeDriver(fingerprint, root_);
  EXPECT_EQ(fingerprint.processor(), "");
  EXPECT_EQ(fingerprint.driver_version(), "");
  EXPECT_EQ(fingerprint.memory_gib(), 0);
}

TEST_F(FingerprintTest, TheDriversVersionIsFound) {
  Write("proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  575.57.08  "
        "Release Build\nGCC version: 12.2.0\n");
  v1::DeviceFingerprint fingerprint;
  DescribeDriver(fingerprint, root_);
  EXPECT_EQ(fingerprint.driver_version(), "575.57.08");
}

TEST_F(FingerprintTest, WhatGovernsTheClocksIsSaid) {
  v1::DeviceFingerprint fingerprint;
  Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  Write("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
  DescribeProcessors(fingerprint, root_);
  EXPECT_EQ(fingerprint.clock_policy(), "powersave");
  Write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  DescribeProcessors(fingerprint, root_);
  EXPECT_EQ(fingerprint.clock_policy(), "powersave, no turbo");
}

// Where a machine has its own in the loader's path, theirs are named.
TEST_F(FingerprintTest, LibrariesBesideThePluginAreNamed) {
  v1::DeviceFingerprint fingerprint;
  DescribeLibraries(fingerprint, MESHWRIGHT_DOUBLES "/nvidia/plugin.so");
  EXPECT_THAT(fingerprint.libraries(), HasSubstr("cuDNN 9"));
  EXPECT_THAT(fingerprint.libraries(), HasSubstr("NCCL 2"));
}

// They change what a collective costs, and some let it run at all.
TEST_F(FingerprintTest, SettingsOfNcclTellMachinesApart) {
  setenv("NCCL_P2P_DISABLE", "1", 1);
  setenv("NCCL_ALGO", "Ring", 1);
  setenv("NCCL_DEBUG", "INFO", 1);
  setenv("NCCL_HOME", "/opt/nccl", 1);
  setenv("NCCL_VERSION", "2.27.3-1", 1);
  v1::DeviceFingerprint fingerprint;
  DescribeLibraries(fingerprint, MESHWRIGHT_DOUBLES "/nvidia/plugin.so");
  for (const char* const name : {"NCCL_P2P_DISABLE", "NCCL_ALGO", "NCCL_DEBUG",
                                 "NCCL_HOME", "NCCL_VERSION"})
    unsetenv(name);
  EXPECT_THAT(fingerprint.libraries(),
              HasSubstr(", NCCL_ALGO=Ring, NCCL_P2P_DISABLE=1"));
  EXPECT_THAT(fingerprint.libraries(), Not(HasSubstr("NCCL_DEBUG")));
  EXPECT_THAT(fingerprint.libraries(), Not(HasSubstr("NCCL_HOME")));
  EXPECT_THAT(fingerprint.libraries(), Not(HasSubstr("NCCL_VERSION")));
}

TEST_F(FingerprintTest, MemoryIsRounded) {
  EXPECT_EQ(RoundToGib(int64_t{150754820096}), 140);
  EXPECT_EQ(RoundToGib(0), 0);
}

}  // namespace
}  // namespace meshwright::worker::devices
