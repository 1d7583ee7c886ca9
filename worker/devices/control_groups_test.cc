#include "worker/devices/control_groups.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace meshwright::worker::devices {
namespace {

namespace fs = std::filesystem;

// A /proc and /sys of files.
class ControlGroupsTest : public testing::Test {
 protected:
  ControlGroupsTest()
      : root_(fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(root_);
  }
  ~ControlGroupsTest() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  const fs::path root_;
};

TEST_F(ControlGroupsTest, TheLeastOfAGroupAndThoseAboveIt) {
  Write("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  Write("sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "max 100000\n");
  Write("sys/fs/cgroup/slurm/job_7/cpu.max", "250000 100000\n");
  Write("sys/fs/cgroup/slurm/cpu.max", "800000 100000\n");
  EXPECT_DOUBLE_EQ(FindCpuQuota(root_).value(), 2.5);
}

TEST_F(ControlGroupsTest, AContainerSeesItsGroupAsTheRoot) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(FindCpuQuota(root_).value(), 1.5);
}

TEST_F(ControlGroupsTest, VersionOneHasTwoFiles) {
  Write("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/docker/a\n");
  Write("sys/fs/cgroup/cpu/docker/a/cpu.cfs_quota_us", "400000\n");
  Write("sys/fs/cgroup/cpu/docker/a/cpu.cfs_period_us", "100000\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(FindCpuQuota(root_).value(), 4);
}

TEST_F(ControlGroupsTest, NoLimitWithoutOne) {
  EXPECT_FALSE(FindCpuQuota(root_).has_value());
  Write("proc/self/cgroup", "no group\n3:cpuset:/\n0::/\n");
  Write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_FALSE(FindCpuQuota(root_).has_value());
}

TEST_F(ControlGroupsTest, MemoryIsTheLeastOfTheGroups) {
  EXPECT_FALSE(FindMemoryQuota(root_).has_value());
  Write("proc/self/cgroup", "0::/slurm/job_7\n");
  Write("sys/fs/cgroup/slurm/job_7/memory.max", "max\n");
  Write("sys/fs/cgroup/slurm/memory.max", "1000\n");
  Write("sys/fs/cgroup/slurm/memory.current", "700\n");
  Write("sys/fs/cgroup/slurm/memory.stat", "anon 400\ninactive_file 200\n");
  const auto quota = FindMemoryQuota(root_);
  ASSERT_TRUE(quota.has_value());
  EXPECT_EQ(quota->limit, 1000);
  EXPECT_EQ(quota->available, 500);
}

TEST_F(ControlGroupsTest, MemoryOfVersionOne) {
  Write("proc/self/cgroup", "5:memory:/docker/a\n4:cpu,cpuacct:/docker/a\n");
  Write("sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes", "4096\n");
  Write("sys/fs/cgroup/memory/docker/a/memory.usage_in_bytes", "1024\n");
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  const auto quota = FindMemoryQuota(root_);
  ASSERT_TRUE(quota.has_value());
  EXPECT_EQ(quota->limit, 4096);
  EXPECT_EQ(quota->available, 3072);
}

TEST_F(ControlGroupsTest, ThrottlingIsTheLongestOfTheGroups) {
  EXPECT_EQ(ReadThrottledTime(root_), absl::ZeroDuration());
  Write("proc/self/cgroup", "0::/slurm/job_7\n");
  Write("sys/fs/cgroup/slurm/job_7/cpu.stat",
        "usage_usec 5000\nnr_throttled 2\nthrottled_usec 300\n");
  Write("sys/fs/cgroup/slurm/cpu.stat", "throttled_usec 900\n");
  EXPECT_EQ(ReadThrottledTime(root_), absl::Microseconds(900));
}

}  // namespace
}  // namespace meshwright::worker::devices
