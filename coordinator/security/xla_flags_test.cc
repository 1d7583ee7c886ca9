#include "coordinator/security/xla_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace meshwright::security {
namespace {

using testing::HasSubstr;

TEST(XlaFlagsTest, FlagsOfTheCompilerAreTaken) {
  for (const char* flags :
       {"", "  ", "--xla_backend_optimization_level=0", "--xla_cpu_use_acl",
        "--xla_a=1.5e-3 --xla_gpu_enable_command_buffer=",
        "--xla_gpu_all_reduce_combine_threshold_bytes=8388608",
        "--xla_disable_hlo_passes=a,b-c,D:e", "--xla_gpu_autotune_level=-1"}) {
    const absl::Status status = CheckXlaFlags(flags);
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(XlaFlagsTest, WhatIsNoFlagIsRefused) {
  for (const char* flags :
       {"flags.txt", "/etc/passwd", "--help", "-xla_a=1", "--xla_", "--xla_=1",
        "--Xla_a", "--xla_a=/tmp/x", "--xla_a=\"b c\"", "--xla_a='b'",
        "--xla_a=1\n--xla_b=2", "--xla_a=1\t--xla_b=2", "--xla_a=$HOME",
        "--xla_a=b=c", "--xla_a --tf_b", "--xla_a\\"}) {
    const absl::Status status = CheckXlaFlags(flags);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << flags;
    EXPECT_THAT(std::string(status.message()), HasSubstr("give flags like"));
    EXPECT_EQ(status.message().find_first_of("\n\t"), std::string::npos);
  }
  EXPECT_FALSE(CheckXlaFlags("--xla_a=" + std::string(5000, '1')).ok());
  EXPECT_LT(
      CheckXlaFlags("--xla_a=/" + std::string(4000, '1')).message().size(),
      size_t{300});
}

// Flags of XLA that name files, pass options on, or have it print much.
TEST(XlaFlagsTest, FlagsThatNameFilesAreRefused) {
  for (const char* name :
       {"dump_to", "dump_hlo_as_text", "gpu_dump_llvmir", "enable_dumping",
        "gpu_dump_autotune_results_to", "gpu_load_autotune_results_from",
        "gpu_cuda_data_dir", "gpu_ptx_file", "gpu_llvm_ir_file",
        "gpu_kernel_cache_file", "gpu_per_fusion_autotune_cache_dir",
        "gpu_pgle_profile_file_or_directory_path", "detailed_logging",
        "gpu_algorithm_denylist_path", "backend_extra_options"}) {
    const std::string flag = "--xla_" + std::string(name);
    for (const std::string& flags : {flag, flag + "=x", "--xla_a=1 " + flag}) {
      const absl::Status status = CheckXlaFlags(flags);
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << flags;
      EXPECT_THAT(std::string(status.message()), HasSubstr(flag));
    }
  }
}

}  // namespace
}  // namespace meshwright::security
