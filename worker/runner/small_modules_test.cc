#include "worker/runner/small_modules.h"

#include <gtest/gtest.h>

#include "worker/pjrt/collectives.h"
#include "worker/runner/collective_timer.h"

namespace meshwright::worker::runner {
namespace {

v1::Collective MakeCollective(const std::string& kind, int64_t bytes,
                              int64_t group) {
  v1::Collective collective;
  collective.set_kind(kind);
  collective.set_bytes(bytes);
  collective.set_group_size(group);
  collective.set_count(1);
  return collective;
}

// The real compiler takes and runs every kind, in whole groups and in halves.
TEST(SmallModulesTest, EveryCollectiveIsTimed) {
  auto plugin = pjrt::Plugin::Load(*pjrt::FindPlugin("cpu", ""));
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  pjrt::ClientOptions options;
  options.platform = "cpu";
  options.device_count = 4;
  auto client = pjrt::Client::Create(*plugin, options);
  ASSERT_TRUE(client.ok()) << client.status();
  timing::Protocol protocol;
  protocol.maximum_samples = 12;
  CollectiveTimer timer(**client, protocol);
  std::vector<v1::Collective> collectives;
  for (const int64_t group : {2, 4}) {
    for (const char* kind :
         {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"}) {
      collectives.push_back(MakeCollective(kind, 1 << 20, group));
    }
  }
  collectives.push_back(MakeCollective("all-gather", 2, 2));
  collectives.push_back(MakeCollective("collective-permute", 1 << 20, 4));
  const absl::Status learnt = timer.Learn(collectives, 4);
  ASSERT_TRUE(learnt.ok()) << learnt;
  const auto sum = timer.Sum(collectives, 4);
  EXPECT_TRUE(sum.left_out.empty()) << sum.left_out[0];
  EXPECT_GT(sum.total, absl::Microseconds(100));
}

TEST(SmallModulesTest, OthersAreLeftOut) {
  EXPECT_EQ(MakeCollectiveModule(MakeCollective("ragged-all-to-all", 8, 2), 2)
                .status()
                .code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(MakeCollectiveModule(MakeCollective("all-reduce", 8, 3), 4)
                .status()
                .code(),
            absl::StatusCode::kUnimplemented);
}

// The real compiler takes it, for one partition and for several.
TEST(SmallModulesTest, ASumOverDevicesTakesOneAllReduce) {
  auto plugin = pjrt::Plugin::Load(*pjrt::FindPlugin("cpu", ""));
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  pjrt::ClientOptions options;
  options.platform = "cpu";
  options.device_count = 4;
  auto client = pjrt::Client::Create(*plugin, options);
  ASSERT_TRUE(client.ok()) << client.status();
  for (const int devices : {1, 4}) {
    const auto compiled = (*client)->Compile(
        MakeSumModule(8, 16, devices).SerializeAsString(), devices);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const auto optimized = (*compiled)->OptimizedModule();
    ASSERT_TRUE(optimized.ok()) << optimized.status();
    const auto collectives = pjrt::FindCollectives(*optimized, devices);
    if (devices == 1) {
      EXPECT_TRUE(collectives.empty());
      continue;
    }
    ASSERT_EQ(collectives.size(), 1u);
    EXPECT_EQ(collectives[0].kind(), "all-reduce");
    EXPECT_EQ(collectives[0].bytes(), 16 * 4);
  }
}

}  // namespace
}  // namespace meshwright::worker::runner
