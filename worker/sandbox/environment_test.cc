#include "worker/sandbox/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace meshwright::worker::sandbox {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(EnvironmentTest, OnlyTheStatedVariablesAreKept) {
  setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true", 1);
  setenv("TF_XLA_FLAGS", "x", 1);
  setenv("MESHWRIGHT_CALM_SECONDS", "0", 1);
  setenv("MESHWRIGHT_TOKEN", "secret", 1);
  setenv("MESHWRIGHT_SOMETHING", "value", 1);
  setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  setenv("MESHWRIGHT_DEVICES_PER_HOST", "8", 1);
  // On some machines collectives hang without it.
  setenv("NCCL_P2P_DISABLE", "1", 1);
  // It changes what a product of matrices costs, and no key.
  setenv("NVIDIA_TF32_OVERRIDE", "0", 1);
  const auto kept = MakeRunnerEnvironment("");
  EXPECT_THAT(kept, Contains("MESHWRIGHT_CALM_SECONDS=0"));
  EXPECT_THAT(kept, Not(Contains(HasSubstr("MESHWRIGHT_TOKEN"))));
  EXPECT_THAT(kept, Not(Contains(HasSubstr("MESHWRIGHT_SOMETHING"))));
  EXPECT_THAT(kept, Contains("CUDA_VISIBLE_DEVICES=1"));
  EXPECT_THAT(kept, Contains("MESHWRIGHT_DEVICES_PER_HOST=8"));
  EXPECT_THAT(kept, Contains("NCCL_P2P_DISABLE=1"));
  EXPECT_THAT(kept, Not(Contains(HasSubstr("XLA_FLAGS"))));
  EXPECT_THAT(kept, Not(Contains(HasSubstr("NVIDIA_TF32_OVERRIDE"))));
  unsetenv("NCCL_P2P_DISABLE");
}

TEST(EnvironmentTest, FlagsAreThoseOfTheOperatorAndOfTheRequest) {
  setenv("XLA_FLAGS", "--ours", 1);
  setenv("MESHWRIGHT_XLA_FLAGS", "--xla_b=2", 1);
  EXPECT_THAT(MakeRunnerEnvironment("--xla_a=1"),
              Contains("XLA_FLAGS=--xla_b=2 --xla_a=1"));
  unsetenv("MESHWRIGHT_XLA_FLAGS");
  const auto kept = MakeRunnerEnvironment("--xla_a=1");
  EXPECT_THAT(kept, Contains("XLA_FLAGS=--xla_a=1"));
  EXPECT_THAT(kept, Not(Contains("XLA_FLAGS=--ours")));
}

}  // namespace
}  // namespace meshwright::worker::sandbox
