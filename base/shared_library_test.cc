#include "base/shared_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::base {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ListPipFoldersTest, TheyAreSeenFromThePluginPackageByPackage) {
  EXPECT_THAT(
      ListPipFolders("/site/jax_plugins/xla_cuda13/plugin.so",
                     {"cu13", "nccl"}),
      ElementsAre("/site/nvidia/cu13/lib", "/site/jax_plugins/nvidia/cu13/lib",
                  "/site/nvidia/nccl/lib",
                  "/site/jax_plugins/nvidia/nccl/lib"));
  EXPECT_THAT(ListPipFolders("/site/jax_plugins/xla_cuda13/plugin.so", {}),
              IsEmpty());
}

TEST(ListPipFoldersTest, APluginWithoutAFolderIsInTheCurrentOne) {
  EXPECT_THAT(ListPipFolders("plugin.so", {"nccl"}),
              ElementsAre("../../nvidia/nccl/lib", "../nvidia/nccl/lib"));
}

}  // namespace
}  // namespace meshwright::base
