#include "worker/devices/cpu_quota.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace meshwright::worker::devices {
namespace {

namespace fs = std::filesystem;

// A /proc and /sys of files.
class CpuQuotaTest : public testing::Test {
 protected:
  CpuQuotaTest()
      : root_(fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(root_);
  }
  ~CpuQuotaTest() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  const fs::path root_;
};

TEST_F(CpuQuotaTest, TheLeastOfAGroupAndThoseAboveIt) {
  Write("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  Write("sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "max 100000\n");
  Write("sys/fs/cgroup/slurm/job_7/cpu.max", "250000 100000\n");
  Write("sys/fs/cgroup/slurm/cpu.max", "800000 100000\n");
  EXPECT_DOUBLE_EQ(CpuQuota(root_).value(), 2.5);
}

TEST_F(CpuQuotaTest, AContainerSeesItsGroupAsTheRoot) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(CpuQuota(root_).value(), 1.5);
}

TEST_F(CpuQuotaTest, VersionOneHasTwoFiles) {
  Write("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/docker/a\n");
  Write("sys/fs/cgroup/cpu/docker/a/cpu.cfs_quota_us", "400000\n");
  Write("sys/fs/cgroup/cpu/docker/a/cpu.cfs_period_us", "100000\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(CpuQuota(root_).value(), 4);
}

TEST_F(CpuQuotaTest, NoLimitWithoutOne) {
  EXPECT_FALSE(CpuQuota(root_).has_value());
  Write("proc/self/cgroup", "no group\n3:cpuset:/\n0::/\n");
  Write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_FALSE(CpuQuota(root_).has_value());
}

}  // namespace
}  // namespace meshwright::worker::devices
