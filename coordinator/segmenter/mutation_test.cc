// Valid steps with something wrong in them: each ends in one sentence, or in an
// analysis that holds together.
#include "coordinator/ir/testing/mutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/ir/module.h"
#include "coordinator/segmenter/testing/check_analysis.h"

namespace meshwright::segmenter {
namespace {

void Exercise(const std::string& bytes) {
  for (const std::vector<int64_t>& mesh :
       {std::vector<int64_t>{1, 2}, std::vector<int64_t>{2, 4}}) {
    auto module = ir::LoadModule(bytes);
    if (!module.ok()) {
      EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_FALSE(module.status().message().empty());
      return;
    }
    const auto analysis = Analyze(*std::move(module), mesh);
    if (!analysis.ok()) {
      EXPECT_EQ(analysis.status().code(), absl::StatusCode::kInvalidArgument)
          << analysis.status();
      continue;
    }
    EXPECT_EQ(CheckAnalysis(*analysis), absl::OkStatus());
  }
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const char* folder : {"tests/testdata", "tests/testdata/fuzz"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string path = entry.path().string();
      if (path.ends_with("_tiny.hlo.pb") || path.find("fuzz/") != path.npos) {
        seeds.push_back(path);
      }
    }
  }
  return seeds;
}

class MutationTest : public testing::TestWithParam<std::string> {};

TEST_P(MutationTest, EndsInASentenceOrAnAnalysisThatHolds) {
  const std::string bytes = *base::ReadFile(GetParam());
  Exercise(bytes);
  const auto whole = ir::ParseModule(bytes);
  if (!whole.ok()) return;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ir::Random random(seed);
    hlo::HloModuleProto module = *whole;
    if (seed % 2 == 0) ir::CutCone(module, random);
    for (int edits = ir::Below(random, 4); edits > 0; --edits) {
      ir::EditModule(module, random);
    }
    Exercise(module.SerializeAsString());
  }
}

INSTANTIATE_TEST_SUITE_P(All, MutationTest, testing::ValuesIn(Seeds()),
                         [](const auto& info) {
                           std::string name =
                               std::filesystem::path(info.param).stem().stem();
                           std::erase_if(name, [](char c) {
                             return std::isalnum(c) == 0 && c != '_';
                           });
                           return name;
                         });

}  // namespace
}  // namespace meshwright::segmenter
