#include "worker/devices/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>

namespace meshwright::worker::devices {
namespace {

TEST(CoresTest, AffinityAndQuotaLimitWhatMayBeUsed) {
  const std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) / "cores_of_a_container";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root / "proc/self");
  std::filesystem::create_directories(root / "sys/fs/cgroup");
  std::ofstream(root / "proc/self/cgroup") << "0::/\n";
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(CountUsableCores(root), CPU_COUNT(&before)) << "no quota";
  std::ofstream(root / "sys/fs/cgroup/cpu.max") << "50000 100000\n";
  EXPECT_EQ(CountUsableCores(root), 1);
  std::ofstream(root / "sys/fs/cgroup/cpu.max") << "99900000 100000\n";
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(CountUsableCores(root), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace
}  // namespace meshwright::worker::devices
