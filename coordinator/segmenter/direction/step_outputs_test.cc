#include "coordinator/segmenter/direction/step_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/direction/forward_backward.h"

namespace meshwright::segmenter {
namespace {

using testing::Each;
using testing::ElementsAre;

// A step of those lines, which end with the root.
ir::Module StepOf(const std::string& aliases, const std::string& lines) {
  const auto module = ir::LoadModule(absl::StrCat("HloModule step", aliases, R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ENTRY step {
  zero = f32[] constant(0)
)",
                                                  lines, "}\n"));
  EXPECT_TRUE(module.ok()) << module.status();
  return *module;
}

// A step over w, head and batch x; `rest` ends with the root.
ir::Module Step(const std::string& aliases, const std::string& rest) {
  return StepOf(aliases, absl::StrCat(R"(
  w = f32[16,32] parameter(0)
  head = f32[32,8] parameter(1)
  x = f32[8,16] parameter(2)
  h = f32[8,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  y = f32[8,8] dot(h, head), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)",
                                      rest));
}

constexpr const char* kDonated =
    ", input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }";

std::string Backward(const std::string& cotangent) {
  return absl::StrCat("  dy = f32[8,8] ", cotangent, R"(
  dhead = f32[32,8] dot(h, dy), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  dh = f32[8,32] dot(dy, head), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  dw = f32[16,32] dot(x, dh), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  w.new = f32[16,32] subtract(w, dw)
  head.new = f32[32,8] subtract(head, dhead)
)");
}

constexpr const char* kSquareLoss = R"(
  square = f32[8,8] multiply(y, y)
  loss = f32[] reduce(square, zero), dimensions={0,1}, to_apply=sum
)";

std::vector<int> Losses(const ir::Module& module) {
  return FindLosses(module, MatchState(module));
}

TEST(FindLossesTest, AReturnedGradientIsNoLoss) {
  const ir::Module module =
      Step(kDonated, absl::StrCat(kSquareLoss, Backward("add(y, y)"), R"(
  ROOT out = (f32[16,32], f32[32,8], f32[32,8], f32[], f32[16,32]) tuple(w.new, head.new, dhead, loss, dw)
)"));
  EXPECT_THAT(Losses(module), ElementsAre(3));
}

TEST(FindLossesTest, NorIsOneOfALinearLoss) {
  const ir::Module module =
      Step(kDonated,
           absl::StrCat("  loss = f32[] reduce(y, zero), dimensions={0,1}, "
                        "to_apply=sum\n  one = f32[] constant(1)\n",
                        Backward("broadcast(one), dimensions={}"), R"(
  ROOT out = (f32[16,32], f32[32,8], f32[32,8], f32[]) tuple(w.new, head.new, dhead, loss)
)"));
  EXPECT_THAT(Losses(module), ElementsAre(3));
}

TEST(FindLossesTest, AnotherHeadOnTheSameTrunkIsALoss) {
  const ir::Module module =
      Step(kDonated, absl::StrCat(kSquareLoss, Backward("add(y, y)"), R"(
  other = f32[32,8] negate(head)
  y.2 = f32[8,8] dot(h, other), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  metric = f32[] reduce(y.2, zero), dimensions={0,1}, to_apply=sum
  ROOT out = (f32[16,32], f32[32,8], f32[], f32[]) tuple(w.new, head.new, loss, metric)
)"));
  EXPECT_THAT(Losses(module), ElementsAre(2, 3));
}

TEST(MatchStateTest, FindsTheUpdateWhereNothingIsDonated) {
  const ir::Module module =
      Step("", absl::StrCat(kSquareLoss, Backward("add(y, y)"), R"(
  ROOT out = (f32[], f32[32,8], f32[16,32]) tuple(loss, head.new, w.new)
)"));
  EXPECT_THAT(MatchState(module), ElementsAre(2, 1, std::nullopt));
  EXPECT_THAT(Losses(module), ElementsAre(0));
}

TEST(MatchStateTest, FindsTheUpdateOfWhatIsNotDonated) {
  const ir::Module module =
      Step(", input_output_alias={ {1}: (1, {}, may-alias) }",
           absl::StrCat(kSquareLoss, Backward("add(y, y)"), R"(
  ROOT out = (f32[16,32], f32[32,8], f32[]) tuple(w.new, head.new, loss)
)"));
  EXPECT_THAT(MatchState(module), ElementsAre(0, 1, std::nullopt));
  EXPECT_THAT(Losses(module), ElementsAre(2));
}

// Weights of bfloat16, an update in float32, and an average of float32 that
// reads the new weights.
TEST(MatchStateTest, FindsAnUpdateInAWiderType) {
  const ir::Module module = StepOf("", R"(
  w = bf16[16,32] parameter(0)
  average = f32[16,32] parameter(1)
  x = bf16[8,16] parameter(2)
  y = bf16[8,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  wide.y = f32[8,32] convert(y)
  square = f32[8,32] multiply(wide.y, wide.y)
  loss = f32[] reduce(square, zero), dimensions={0,1}, to_apply=sum
  dy = bf16[8,32] add(y, y)
  dw = bf16[16,32] dot(x, dy), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  wide.w = f32[16,32] convert(w)
  wide.dw = f32[16,32] convert(dw)
  wide.new = f32[16,32] subtract(wide.w, wide.dw)
  w.new = bf16[16,32] convert(wide.new)
  apart = f32[16,32] subtract(average, wide.new)
  average.new = f32[16,32] subtract(average, apart)
  ROOT out = (f32[16,32], bf16[16,32], f32[]) tuple(average.new, w.new, loss)
)");
  EXPECT_THAT(MatchState(module), ElementsAre(1, 0, std::nullopt));
}

// A block in inference: h = x + x w0, then h + h w1, in narrow floats or not.
TEST(MatchStateTest, AResidualStreamInInferenceIsNoState) {
  for (const char* type : {"f32", "bf16"}) {
    const ir::Module module = StepOf("", absl::Substitute(R"(
  x = f32[4,8,16] parameter(0)
  w0 = $0[16,16] parameter(1)
  w1 = $0[16,16] parameter(2)
  head = $0[16,32] parameter(3)
  h0 = $0[4,8,16] convert(x)
  y0 = $0[4,8,16] dot(h0, w0), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  h1 = $0[4,8,16] add(h0, y0)
  y1 = $0[4,8,16] dot(h1, w1), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  h2 = $0[4,8,16] add(h1, y1)
  h = f32[4,8,16] convert(h2)
  logits = $0[4,8,32] dot(h2, head), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  ROOT out = ($0[4,8,32], f32[4,8,16]) tuple(logits, h)
)",
                                                          type));
    EXPECT_THAT(MatchState(module), Each(std::nullopt)) << type;
    const auto passes = FindForwardBackward(module);
    ASSERT_TRUE(passes.ok()) << passes.status();
    EXPECT_TRUE(passes->inference) << type;
  }
}

// Each layer as W x of one example, of which jax.vmap makes many: the stream
// stands on the right, and so does that of h + A h.
TEST(MatchStateTest, AStreamOnTheRightInInferenceIsNoState) {
  const ir::Module module = StepOf("", R"(
  w0 = f32[16,16] parameter(0)
  near = f32[8,8] parameter(1)
  x = f32[8,16] parameter(2)
  y0 = f32[16,8] dot(w0, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  t0 = f32[8,16] transpose(y0), dimensions={1,0}
  h0 = f32[8,16] add(x, t0)
  y1 = f32[8,16] dot(near, h0), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  h1 = f32[8,16] add(h0, y1)
  ROOT out = (f32[8,16]) tuple(h1)
)");
  EXPECT_THAT(MatchState(module), Each(std::nullopt));
}

// An average of weights, beside no forward pass at all.
TEST(MatchStateTest, AnUpdateWithoutContractionsIsState) {
  const ir::Module module = StepOf("", R"(
  average = f32[16] parameter(0)
  w = f32[16] parameter(1)
  average.new = f32[16] add(average, w)
  ROOT out = (f32[16]) tuple(average.new)
)");
  EXPECT_THAT(MatchState(module), ElementsAre(0, std::nullopt));
}

// x + x w, beside it x + x.
TEST(MatchStateTest, WhatABatchBecomesIsNoState) {
  const std::string lines = R"(
  w = f32[16,16] parameter(0)
  x = f32[8,16] parameter(1)
  other = f32[8,16] parameter(2)
  h = f32[8,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  predicted = f32[8,16] add(x, h)
  doubled = f32[8,16] add(other, other)
  square = f32[8,16] multiply(predicted, predicted)
  loss = f32[] reduce(square, zero), dimensions={0,1}, to_apply=sum
  d = f32[8,16] add(predicted, predicted)
  dw = f32[16,16] dot(x, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  w.new = f32[16,16] subtract(w, dw)
  ROOT out = (f32[16,16], f32[], f32[8,16], f32[8,16]) tuple(w.new, loss, predicted, doubled)
)";
  const ir::Module module =
      StepOf(", input_output_alias={ {0}: (0, {}, may-alias) }", lines);
  EXPECT_THAT(MatchState(module), ElementsAre(0, std::nullopt, std::nullopt));
  // Without donations: no result needs the doubled batch.
  EXPECT_THAT(MatchState(StepOf("", lines)), ElementsAre(0, std::nullopt, 3));
}

// h' = z h + (1 - z) n, and a loss of h'. As many labels as it has rows.
TEST(MatchStateTest, WhatARecurrentStepCarriesIsState) {
  const ir::Module module = StepOf(kDonated, R"(
  w = f32[16,16] parameter(0)
  h = f32[8,16] parameter(1)
  x = f32[8,16] parameter(2)
  z = f32[8,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  kept = f32[8,16] multiply(z, h)
  h.new = f32[8,16] add(kept, z)
  square = f32[8,16] multiply(h.new, h.new)
  loss = f32[] reduce(square, zero), dimensions={0,1}, to_apply=sum
  d = f32[8,16] add(h.new, h.new)
  dz = f32[8,16] multiply(d, h)
  dw = f32[16,16] dot(x, dz), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  w.new = f32[16,16] subtract(w, dw)
  ROOT out = (f32[16,16], f32[8,16], f32[]) tuple(w.new, h.new, loss)
)");
  EXPECT_THAT(MatchState(module), ElementsAre(0, 1, std::nullopt));
}

// A weight that is divided by its norm, by a power iteration. As many rows as
// the vector has are in the batch.
TEST(MatchStateTest, AVectorOfAPowerIterationIsState) {
  const ir::Module module = StepOf(kDonated, R"(
  w = f32[16,32] parameter(0)
  u = f32[32] parameter(1)
  x = f32[32,16] parameter(2)
  v = f32[16] dot(w, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  u.raw = f32[32] dot(v, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  u.new = f32[32] tanh(u.raw)
  sigma = f32[] dot(u.new, u.raw), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  sigmas = f32[16,32] broadcast(sigma), dimensions={}
  scaled = f32[16,32] divide(w, sigmas)
  y = f32[32,32] dot(x, scaled), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  square = f32[32,32] multiply(y, y)
  loss = f32[] reduce(square, zero), dimensions={0,1}, to_apply=sum
  dy = f32[32,32] add(y, y)
  dscaled = f32[16,32] dot(x, dy), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  dw = f32[16,32] divide(dscaled, sigmas)
  w.new = f32[16,32] subtract(w, dw)
  ROOT out = (f32[16,32], f32[32], f32[]) tuple(w.new, u.new, loss)
)");
  EXPECT_THAT(MatchState(module), ElementsAre(0, 1, std::nullopt));
}

// The batch's sums, of as many features as the batch has rows, and its second
// moments, which replace those of the step before.
TEST(MatchStateTest, StatisticsOfTheBatchAreState) {
  const ir::Module module = StepOf(
      ", input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, "
      "may-alias), {2}: (2, {}, may-alias) }",
      R"(
  w = f32[16,8] parameter(0)
  sums = f32[8] parameter(1)
  moments = f32[16,16] parameter(2)
  x = f32[8,16] parameter(3)
  y = f32[8,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  features = f32[8] reduce(y, zero), dimensions={0}, to_apply=sum
  sums.new = f32[8] add(sums, features)
  moments.new = f32[16,16] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  square = f32[8,8] multiply(y, y)
  loss = f32[] reduce(square, zero), dimensions={0,1}, to_apply=sum
  dy = f32[8,8] add(y, y)
  dw = f32[16,8] dot(x, dy), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  w.new = f32[16,8] subtract(w, dw)
  ROOT out = (f32[16,8], f32[8], f32[16,16], f32[]) tuple(w.new, sums.new, moments.new, loss)
)");
  EXPECT_THAT(MatchState(module), ElementsAre(0, 1, 2, std::nullopt));
}

// An autoencoder whose batch is donated: its reconstruction takes its place. A
// frozen decoder and a table have other first dimensions.
TEST(MatchStateTest, WhatADonatedBatchBecomesIsNoState) {
  const ir::Module module = StepOf(
      ", input_output_alias={ {0}: (0, {}, may-alias), {2}: (1, {}, may-alias) "
      "}",
      R"(
  w = f32[16,16] parameter(0)
  x = f32[8,16] parameter(1)
  frozen = f32[16,16] parameter(2)
  table = f32[100] parameter(3)
  h = f32[8,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  y = f32[8,16] dot(h, frozen), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  apart = f32[8,16] subtract(y, x)
  square = f32[8,16] multiply(apart, apart)
  loss = f32[] reduce(square, zero), dimensions={0,1}, to_apply=sum
  dy = f32[8,16] add(apart, apart)
  d = f32[8,16] dot(dy, frozen), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  dw = f32[16,16] dot(x, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  w.new = f32[16,16] subtract(w, dw)
  ROOT out = (f32[16,16], f32[], f32[8,16]) tuple(w.new, loss, y)
)");
  EXPECT_THAT(MatchState(module),
              ElementsAre(0, std::nullopt, std::nullopt, std::nullopt));
}

// Its target network becomes the new weights on every step.
TEST(MatchStateTest, WhatIsReplacedByNewWeightsIsState) {
  const ir::Module module = StepOf(
      ", input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) "
      "}",
      R"(
  w = f32[16,16] parameter(0)
  target = f32[16,16] parameter(1)
  x = f32[8,16] parameter(2)
  y = f32[8,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  aim = f32[8,16] dot(x, target), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  apart = f32[8,16] subtract(y, aim)
  square = f32[8,16] multiply(apart, apart)
  loss = f32[] reduce(square, zero), dimensions={0,1}, to_apply=sum
  d = f32[8,16] add(apart, apart)
  dw = f32[16,16] dot(x, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  w.new = f32[16,16] subtract(w, dw)
  ROOT out = (f32[16,16], f32[16,16], f32[]) tuple(w.new, w.new, loss)
)");
  EXPECT_THAT(MatchState(module), ElementsAre(0, 1, std::nullopt));
}

// So many contractions read x that every pair of them is too many.
TEST(FindLossesTest, TheBoundOfTheSearchIsSaid) {
  const auto read_by = [](int readers) {
    std::string rest =
        "  loss.0 = f32[] reduce(y, zero), dimensions={0,1}, "
        "to_apply=sum\n";
    for (int i = 1; i <= readers; ++i) {
      absl::StrAppend(&rest, "  h.", i,
                      " = f32[8,32] dot(x, w), lhs_contracting_dims={1}, "
                      "rhs_contracting_dims={0}\n  sum.",
                      i, " = f32[] reduce(h.", i,
                      ", zero), dimensions={0,1}, to_apply=sum\n  loss.", i,
                      " = f32[] add(loss.", i - 1, ", sum.", i, ")\n");
    }
    absl::StrAppend(&rest,
                    "  first = f32[] reduce(h, zero), "
                    "dimensions={0,1}, to_apply=sum\n"
                    "  ROOT out = (f32[], f32[]) tuple(first, loss.",
                    readers, ")\n");
    return rest;
  };
  bool cut_short = true;
  const ir::Module few = Step("", read_by(3));
  FindLosses(few, MatchState(few), &cut_short);
  EXPECT_FALSE(cut_short);
  const ir::Module many = Step("", read_by(500));
  FindLosses(many, MatchState(many), &cut_short);
  EXPECT_TRUE(cut_short);
}

}  // namespace
}  // namespace meshwright::segmenter
