// Every input that once broke the reader of modules, kept for good.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/ir/module.h"
#include "coordinator/ir/rewrite/split_fused.h"

namespace meshwright::ir {
namespace {

constexpr char kInputs[] = "tests/testdata/fuzz";

std::vector<std::string> Inputs() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kInputs)) {
    paths.push_back(entry.path().string());
  }
  return paths;
}

TEST(ModuleRegressionTest, EveryInputIsRefusedOrWhole) {
  const std::vector<std::string> paths = Inputs();
  ASSERT_FALSE(paths.empty());
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    auto module = LoadModule(*base::ReadFile(path));
    if (module.ok()) SplitFusedContractions(*module);
  }
}

}  // namespace
}  // namespace meshwright::ir
