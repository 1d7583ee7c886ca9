#include "worker/devices/heat_counter.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace meshwright::worker::devices {
namespace {

namespace fs = std::filesystem;

class HeatCounterTest : public testing::Test {
 protected:
  HeatCounterTest()
      : root_(fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(root_);
  }
  void Write(int processor, const std::string& unit, int count) {
    const fs::path folder = root_ / "sys/devices/system/cpu" /
                            ("cpu" + std::to_string(processor)) /
                            "thermal_throttle";
    fs::create_directories(folder);
    std::ofstream(folder / (unit + "_throttle_count")) << count << "\n";
  }
  const fs::path root_;
};

TEST_F(HeatCounterTest, EventsOfItsOwnProcessorsCount) {
  for (const int processor : {0, 1, 2}) {
    Write(processor, "core", 10);
    Write(processor, "package", 100);
  }
  const HeatCounter heat(root_, {0, 2});
  const int64_t before = heat.Count();
  Write(1, "core", 11);  // another's
  EXPECT_EQ(heat.Count(), before);
  Write(2, "core", 11);
  EXPECT_EQ(heat.Count(), before + 1);
  Write(0, "package", 103);
  EXPECT_EQ(heat.Count(), before + 4);
}

TEST_F(HeatCounterTest, AKernelThatDoesNotSayCountsNothing) {
  EXPECT_EQ(HeatCounter(root_, {0, 1}).Count(), 0);
}

}  // namespace
}  // namespace meshwright::worker::devices
