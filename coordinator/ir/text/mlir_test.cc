#include "coordinator/ir/text/mlir.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace meshwright::ir {
namespace {

TEST(LooksLikeMlirTest, KnowsTextAndBytecode) {
  for (const std::string_view bytes :
       {"module @step {\n}", "\n// Printed by JAX.\nmodule {}",
        "#loc1 = loc(\"w\")\nmodule @step {}", "\"builtin.module\"() ({}) : ()",
        "builtin.module {}", "func.func @main() { return }",
        "ML\xefR\rStableHLO_v1.10.6", "ML\xefR\rMLIR21.0.0git"}) {
    EXPECT_TRUE(LooksLikeMlir(bytes)) << bytes;
  }
}

TEST(LooksLikeMlirTest, LeavesTheRestAlone) {
  for (const std::string_view bytes :
       {"", "ML", "HloModule step\nENTRY main {}", "# a page\n", "modules of",
        "#", "{\"module\": 1}"}) {
    EXPECT_FALSE(LooksLikeMlir(bytes)) << bytes;
  }
  for (const char* const sample :
       {"tests/testdata/llama_tiny.hlo.pb", "tests/testdata/text/dense.hlo.txt",
        "tests/testdata/text/dense.hlo.pb"}) {
    EXPECT_FALSE(LooksLikeMlir(*base::ReadFile(sample))) << sample;
  }
}

}  // namespace
}  // namespace meshwright::ir
