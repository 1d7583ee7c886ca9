#include "worker/pjrt/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace meshwright::worker::pjrt {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PluginTest, MissingFileIsNotFound) {
  const auto plugin = Plugin::Load("/nowhere/plugin.so");
  EXPECT_EQ(plugin.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(plugin.status().message(),
            "there is no plugin at /nowhere/plugin.so");
}

TEST(PluginTest, FileThatIsNoLibraryIsRefused) {
  const auto plugin = Plugin::Load("CMakeLists.txt");
  EXPECT_EQ(plugin.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(plugin.status().message()),
              HasSubstr("cannot load the plugin CMakeLists.txt"));
}

TEST(PluginTest, LibraryThatIsNoPluginIsRefused) {
  const auto plugin = Plugin::Load("/lib/x86_64-linux-gnu/libm.so.6");
  EXPECT_EQ(plugin.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(plugin.status().message()),
              HasSubstr("is not a PJRT plugin"));
}

TEST(PluginTest, LoadsTheCpuPlugin) {
  const auto path = FindPlugin("cpu", "");
  ASSERT_TRUE(path.ok());
  const auto plugin = Plugin::Load(*path);
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  EXPECT_THAT((*plugin)->api_version(), HasSubstr("0."));
}

TEST(PluginTest, AGivenPathWins) {
  EXPECT_EQ(*FindPlugin("tpu", "/a/plugin.so"), "/a/plugin.so");
}

TEST(PluginTest, CudaWithoutAPathSaysWhatToDo) {
  unsetenv("MESHWRIGHT_CUDA_PLUGIN");
  const auto path = FindPlugin("cuda", "");
  EXPECT_EQ(path.status().code(), absl::StatusCode::kFailedPrecondition);
  const std::string message(path.status().message());
  EXPECT_THAT(message, HasSubstr("--plugin"));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
}

TEST(PluginTest, UnknownPlatformIsNamed) {
  const auto path = FindPlugin("abacus", "");
  EXPECT_EQ(path.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(path.status().message()), HasSubstr("abacus"));
}

}  // namespace
}  // namespace meshwright::worker::pjrt
