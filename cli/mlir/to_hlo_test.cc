#include "cli/mlir/to_hlo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file.h"

namespace meshwright::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kModule[] = "module @step {}";

// A program in the place of Python: $3 is the file for its result.
class ToHloTest : public testing::Test {
 protected:
  void SetUp() override { SetPython(path_); }
  void TearDown() override { unsetenv("MESHWRIGHT_PYTHON"); }

  static void SetPython(const std::string& path) {
    setenv("MESHWRIGHT_PYTHON", path.c_str(), 1);
  }

  void WritePython(const std::string& body) const {
    ASSERT_TRUE(
        base::WriteFile(path_, absl::StrCat("#!/bin/sh\n", body, "\n")).ok());
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }

  const std::string path_ = testing::TempDir() + "/to_hlo_test_python";
};

TEST_F(ToHloTest, WhatIsNoMlirStartsNothing) {
  SetPython("/nonexistent/python");
  EXPECT_EQ(*ToHlo("HloModule step"), "HloModule step");
}

TEST_F(ToHloTest, TheModuleGoesInAndComesOut) {
  WritePython("exec > $3; printf J; cat");
  const auto module = ToHlo(kModule);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(*module, kModule);
}

TEST_F(ToHloTest, TheTokenStaysHere) {
  setenv("MESHWRIGHT_TOKEN", "secret", 1);
  WritePython("exec > $3; printf J; printf \"[$MESHWRIGHT_TOKEN]\"");
  const auto module = ToHlo(kModule);
  unsetenv("MESHWRIGHT_TOKEN");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(*module, "[]");
}

TEST_F(ToHloTest, WithoutJaxlibTheWayOutIsNamed) {
  WritePython("echo 'ModuleNotFoundError: no jaxlib' >&2; exit 1");
  const absl::Status without = ToHlo(kModule).status();
  EXPECT_EQ(without.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(without.message()),
      AllOf(StartsWith("the file is StableHLO, and no Python with jaxlib"),
            HasSubstr("ModuleNotFoundError: no jaxlib"),
            HasSubstr("set MESHWRIGHT_PYTHON")));
  SetPython("/nonexistent/python");
  EXPECT_EQ(ToHlo(kModule).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(ToHloTest, WhatJaxlibRefusesIsSaid) {
  WritePython("printf J > $3; echo 'error: custom op' >&2; exit 1");
  const absl::Status refused = ToHlo(kModule).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      refused.message(),
      "the file is no StableHLO that jaxlib can convert: error: custom op");
}

TEST_F(ToHloTest, AParserThatDiesTakesNothingAlong) {
  WritePython("printf Jhalf > $3; kill -SEGV $$");
  EXPECT_THAT(std::string(ToHlo(kModule).status().message()),
              HasSubstr("killed by SIGSEGV"));
}

TEST_F(ToHloTest, OneThatGoesOnIsEnded) {
  WritePython("exec sleep 1000");
  EXPECT_THAT(
      std::string(ToHlo(kModule, absl::Milliseconds(1)).status().message()),
      HasSubstr("not converted in 1ms"));
}

}  // namespace
}  // namespace meshwright::cli
