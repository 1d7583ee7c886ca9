#include "coordinator/ir/rewrite/split_fused.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "coordinator/ir/checks/verify.h"
#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/load/load.h"

namespace meshwright::ir {
namespace {

int Contractions(const Module& module) {
  int count = 0;
  for (const ValueId id : module.ids()) {
    count += IsContraction(module, id);
  }
  return count;
}

TEST(SplitFusedTest, SplitsTheFusedQkvOfEveryGpt2Layer) {
  Module module =
      *LoadModule(*base::ReadFile("tests/testdata/gpt2_tiny.hlo.pb"));
  const int before = Contractions(module);
  EXPECT_EQ(SplitFusedContractions(module), 2);
  // Per layer one forward and two backward contractions become three each.
  EXPECT_EQ(Contractions(module), before + 2 * 3 * 2);
  for (const ValueId id : module.ids()) {
    EXPECT_TRUE(VerifyShape(module, id).ok()) << VerifyShape(module, id);
  }
}

TEST(SplitFusedTest, LeavesSeparateProjectionsAlone) {
  Module module =
      *LoadModule(*base::ReadFile("tests/testdata/bert_tiny.hlo.pb"));
  const int before = module.size();
  EXPECT_EQ(SplitFusedContractions(module), 0);
  EXPECT_EQ(module.size(), before);
}

}  // namespace
}  // namespace meshwright::ir
