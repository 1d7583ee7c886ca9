#include "coordinator/segmenter/direction/state_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/direction/forward_backward.h"

namespace meshwright::segmenter {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr char kFloatBatch[] = "x = f32[8,16] parameter(2)";

// A step with momentum over w, m and batch x that returns w, m and the loss.
ir::Module MomentumStep(const std::string& aliases,
                        const std::string& batch = kFloatBatch) {
  const auto module = ir::LoadModule(absl::Substitute(R"(
HloModule momentum, input_output_alias={ $0 }
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ENTRY step {
  w = f32[16,32] parameter(0)
  m = f32[16,32] parameter(1)
  $1
  zero = f32[] constant(0)
  y = f32[8,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  square = f32[8,32] multiply(y, y)
  loss = f32[] reduce(square, zero), dimensions={0,1}, to_apply=sum
  dy = f32[8,32] add(y, y)
  dw = f32[16,32] dot(x, dy), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  m.new = f32[16,32] add(m, dw)
  w.new = f32[16,32] subtract(w, m.new)
  ROOT out = (f32[16,32], f32[16,32], f32[]) tuple(w.new, m.new, loss)
}
)",
                                                      aliases, batch));
  EXPECT_TRUE(module.ok()) << module.status();
  return *module;
}

std::vector<std::pair<int, int>> Pairs(const ir::Module& module) {
  std::vector<std::pair<int, int>> pairs;
  for (const ir::Alias& it : module.aliases) {
    pairs.emplace_back(it.output, it.parameter);
  }
  return pairs;
}

// As JAX does with donate_argnums=(1,).
TEST(PairDonationsTest, MomentumIsPairedWithItself) {
  ir::Module module = MomentumStep("{0}: (1, {}, may-alias)");
  PairDonations(module);
  EXPECT_THAT(Pairs(module), ElementsAre(Pair(1, 1)));
  const auto passes = FindForwardBackward(module);
  ASSERT_TRUE(passes.ok()) << passes.status();
  EXPECT_THAT(passes->roles,
              ElementsAre(ArgumentRole::kParameter, ArgumentRole::kOptimizer,
                          ArgumentRole::kBatch));
  EXPECT_THAT(passes->loss_outputs, ElementsAre(2));
}

TEST(PairDonationsTest, WhatIsPairedWellStays) {
  ir::Module all =
      MomentumStep("{0}: (0, {}, may-alias), {1}: (1, {}, may-alias)");
  PairDonations(all);
  EXPECT_THAT(Pairs(all), ElementsAre(Pair(0, 0), Pair(1, 1)));
  ir::Module one = MomentumStep("{1}: (1, {}, may-alias)");
  PairDonations(one);
  EXPECT_THAT(Pairs(one), ElementsAre(Pair(1, 1)));
}

// As JAX does where the step returns m before w and donates both.
TEST(PairDonationsTest, TwoDonorsOfEachOthersOutputsAreSwapped) {
  const std::string tokens = R"(tokens = s32[8,16] parameter(2)
  x = f32[8,16] convert(tokens))";
  for (const std::string& batch : {std::string(kFloatBatch), tokens}) {
    ir::Module module =
        MomentumStep("{0}: (1, {}, may-alias), {1}: (0, {}, may-alias)", batch);
    PairDonations(module);
    EXPECT_THAT(Pairs(module), ElementsAre(Pair(0, 0), Pair(1, 1))) << batch;
  }
}

// Each of three is paired with the new state of the next; `same` has none.
TEST(PairDonationsTest, ADonorWithoutANewStateTakesAnOutputThatWasLeft) {
  auto module = ir::LoadModule(R"(
HloModule step, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias), {2}: (2, {}, may-alias) }

ENTRY step {
  w = f32[16] parameter(0)
  same = f32[16] parameter(1)
  m = f32[16] parameter(2)
  drawn = s32[16] parameter(3)
  g = f32[16] convert(drawn)
  m.new = f32[16] add(m, g)
  w.new = f32[16] subtract(w, m.new)
  ROOT out = (f32[16], f32[16], f32[16]) tuple(m.new, w.new, same)
}
)");
  ASSERT_TRUE(module.ok()) << module.status();
  PairDonations(*module);
  EXPECT_THAT(Pairs(*module), ElementsAre(Pair(0, 2), Pair(1, 0), Pair(2, 1)));
}

// The search meets v.new first where it looks for what becomes of w.
TEST(PairDonationsTest, DonorsThatReachTheirOutputsStay) {
  auto module = ir::LoadModule(R"(
HloModule step, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }

ENTRY step {
  w = f32[16] parameter(0)
  v = f32[16] parameter(1)
  drawn = s32[16] parameter(2)
  g = f32[16] convert(drawn)
  v.new = f32[16] add(v, w)
  w.new = f32[16] subtract(w, g)
  ROOT out = (f32[16], f32[16]) tuple(w.new, v.new)
}
)");
  ASSERT_TRUE(module.ok()) << module.status();
  PairDonations(*module);
  EXPECT_THAT(Pairs(*module), ElementsAre(Pair(0, 0), Pair(1, 1)));
}

// The state of an optimizer is returned first, and beside it an average of the
// weights before the step.
TEST(PairDonationsTest, AnAverageOfOldWeightsIsNotTheNewOnes) {
  const auto load = [](const std::string& aliases) {
    return ir::LoadModule(absl::StrCat("HloModule step", aliases, R"(

ENTRY step {
  w = f32[16] parameter(0)
  m = f32[16] parameter(1)
  e = f32[16] parameter(2)
  drawn = s32[16] parameter(3)
  g = f32[16] convert(drawn)
  m.new = f32[16] add(m, g)
  w.new = f32[16] subtract(w, m.new)
  share = f32[16] negate(w)
  e.new = f32[16] subtract(e, share)
  ROOT out = (f32[16], f32[16], f32[16]) tuple(m.new, w.new, e.new)
}
)"));
  };
  auto donated = load(
      ", input_output_alias={ {0}: (0, {}, may-alias), "
      "{1}: (1, {}, may-alias), {2}: (2, {}, may-alias) }");
  ASSERT_TRUE(donated.ok()) << donated.status();
  PairDonations(*donated);
  EXPECT_THAT(Pairs(*donated), ElementsAre(Pair(0, 1), Pair(1, 0), Pair(2, 2)));
  const auto kept = load("");
  ASSERT_TRUE(kept.ok()) << kept.status();
  StateSearch search(*kept);
  EXPECT_EQ(search.Claim(0), 1);
  EXPECT_EQ(search.Claim(1), 0);
  EXPECT_EQ(search.Claim(2), 2);
}

TEST(StateSearchTest, NoSearchGoesBeyondATakenOutput) {
  const ir::Module module = MomentumStep("");
  StateSearch free(module);
  EXPECT_EQ(free.Claim(1), 1);
  StateSearch search(module, {0, 1, 0});
  EXPECT_EQ(search.Claim(1), std::nullopt);
  EXPECT_EQ(search.Claim(0), 0);
}

}  // namespace
}  // namespace meshwright::segmenter
