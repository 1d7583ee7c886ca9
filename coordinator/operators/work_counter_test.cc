#include "coordinator/operators/work_counter.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/load/load.h"

namespace meshwright::operators {
namespace {

using symbolic::Counts;

constexpr const char* kComputations = R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

far {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  apart = f32[] subtract(a, b)
  ROOT root = f32[] sqrt(apart)
}

at-least {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT root = pred[] compare(a, b), direction=GE
}

pair {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  most = f32[] maximum(a, c)
  sum = f32[] add(b, d)
  ROOT root = (f32[], f32[]) tuple(most, sum)
}

cheap {
  p = f32[8,8] parameter(0)
  ROOT root = f32[8,8] exponential(p)
}

expensive {
  p = f32[8,8] parameter(0)
  ROOT root = f32[8,8] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

// The counts of the last operation of a module with these lines.
Counts CountRoot(const std::string& lines) {
  const auto module = ir::LoadModule(absl::StrCat(
      "HloModule test\n", kComputations, "\nENTRY main {\n", lines, "\n}"));
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? WorkCounter(*module).Count(module->root) : Counts{};
}

Counts Flops(int64_t flops) { return {flops, 0}; }

TEST(WorkCounterTest, FunctionsAreCountedApart) {
  EXPECT_EQ(CountRoot("x = f32[3,5] parameter(0)\nROOT y = f32[3,5] add(x, x)"),
            Flops(15));
  EXPECT_EQ(CountRoot("x = f32[3,5] parameter(0)\nROOT y = f32[3,5] tanh(x)"),
            (Counts{0, 15}));
  EXPECT_EQ(
      CountRoot("x = f32[3,5] parameter(0)\nROOT y = bf16[3,5] convert(x)"),
      Flops(15));
  EXPECT_EQ(CountRoot("x = f32[3,5] parameter(0)\nROOT y = f32[15] reshape(x)"),
            Flops(0));
  EXPECT_EQ(CountRoot("x = f32[3,5] parameter(0)\nROOT y = f32[3,5] map(x, x), "
                      "dimensions={0,1}, to_apply=far"),
            (Counts{15, 15}));
}

TEST(WorkCounterTest, DotsMultiplyTheirFourRoles) {
  EXPECT_EQ(
      CountRoot("x = f32[2,3,4] parameter(0)\ny = f32[2,4,5] parameter(1)\n"
                "ROOT z = f32[2,3,5] dot(x, y), lhs_batch_dims={0}, "
                "rhs_batch_dims={0}, lhs_contracting_dims={2}, "
                "rhs_contracting_dims={1}"),
      Flops(2 * 2 * 3 * 4 * 5));
}

TEST(WorkCounterTest, ConvolutionsSkipPaddingAndCountGroupsOnce) {
  // 8 places, a window of 3, one place of padding at either end.
  constexpr int64_t kPairs = 8 * 3 - 2;
  EXPECT_EQ(
      CountRoot("x = f32[2,8,6] parameter(0)\nk = f32[3,6,10] parameter(1)\n"
                "ROOT y = f32[2,8,10] convolution(x, k), "
                "window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f"),
      Flops(2 * 2 * 6 * 10 * kPairs));
  EXPECT_EQ(
      CountRoot("x = f32[2,8,6] parameter(0)\nk = f32[3,1,6] parameter(1)\n"
                "ROOT y = f32[2,8,6] convolution(x, k), "
                "window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, "
                "feature_group_count=6"),
      Flops(2 * 2 * 6 * kPairs));
  EXPECT_EQ(
      CountRoot("x = f32[6,8,2] parameter(0)\nk = f32[3,2,6] parameter(1)\n"
                "ROOT y = f32[1,8,6] convolution(x, k), "
                "window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, "
                "batch_group_count=6"),
      Flops(2 * 2 * 6 * kPairs));
}

TEST(WorkCounterTest,
     ReductionsApplyTheirFunctionOncePerElementBeyondTheFirst) {
  EXPECT_EQ(
      CountRoot("x = f32[4,6] parameter(0)\nz = f32[] constant(0)\n"
                "ROOT y = f32[4] reduce(x, z), dimensions={1}, to_apply=add"),
      Flops(20));
  EXPECT_EQ(CountRoot("x = f32[4,6] parameter(0)\nz = f32[] constant(0)\n"
                      "ROOT y = (f32[4], f32[4]) reduce(x, x, z, z), "
                      "dimensions={1}, to_apply=pair"),
            Flops(40));
  EXPECT_EQ(CountRoot("x = f32[8] parameter(0)\nz = f32[] constant(0)\n"
                      "ROOT y = f32[7] reduce-window(x, z), window={size=2}, "
                      "to_apply=far"),
            (Counts{7, 7}));
}

TEST(WorkCounterTest, ScattersApplyTheirFunctionOncePerUpdate) {
  EXPECT_EQ(
      CountRoot("x = f32[10,4] parameter(0)\ni = s32[3,1] parameter(1)\n"
                "u = f32[3,4] parameter(2)\n"
                "ROOT y = f32[10,4] scatter(x, i, u), update_window_dims={1}, "
                "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                "index_vector_dim=1, to_apply=add"),
      Flops(12));
  EXPECT_EQ(CountRoot("x = f32[8] parameter(0)\ns = f32[4] parameter(1)\n"
                      "z = f32[] constant(0)\n"
                      "ROOT y = f32[8] select-and-scatter(x, s, z), "
                      "window={size=2 stride=2}, select=at-least, scatter=add"),
            Flops(8));
}

TEST(WorkCounterTest, SortsTransformsAndSolves) {
  EXPECT_EQ(CountRoot("x = f32[4,8] parameter(0)\nROOT y = f32[4,8] sort(x), "
                      "dimensions={1}, to_apply=at-least"),
            Flops(4 * 8 * 3));
  EXPECT_EQ(CountRoot("x = c64[4,8] parameter(0)\nROOT y = c64[4,8] fft(x), "
                      "fft_type=FFT, fft_length={8}"),
            Flops(5 * 32 * 3));
  EXPECT_EQ(CountRoot("x = f32[4,8] parameter(0)\nROOT y = c64[4,5] fft(x), "
                      "fft_type=RFFT, fft_length={8}"),
            Flops(5 * 32 * 3 / 2));
  EXPECT_EQ(
      CountRoot("a = f32[2,4,4] parameter(0)\nb = f32[2,4,7] parameter(1)\n"
                "ROOT y = f32[2,4,7] triangular-solve(a, b), left_side=true, "
                "lower=true, transpose_a=NO_TRANSPOSE"),
      Flops(2 * 7 * 16));
  EXPECT_EQ(CountRoot("a = f32[2,4,4] parameter(0)\n"
                      "ROOT y = f32[2,4,4] cholesky(a), lower=true"),
            Flops(2 * 30));
  EXPECT_EQ(CountRoot("s = u64[2] parameter(0)\nROOT y = (u64[2], u32[16]) "
                      "rng-bit-generator(s), algorithm=rng_three_fry"),
            (Counts{0, 18}));
}

TEST(WorkCounterTest, AConditionalCountsItsMostExpensiveBranch) {
  EXPECT_EQ(CountRoot("p = pred[] parameter(0)\nx = f32[8,8] parameter(1)\n"
                      "ROOT y = f32[8,8] conditional(p, x, x), "
                      "true_computation=cheap, false_computation=expensive"),
            (Counts{2 * 8 * 8 * 8, 64}));
}

TEST(WorkCounterTest, NothingIsKnownOfACustomCall) {
  EXPECT_EQ(
      CountRoot("x = f32[8] parameter(0)\nROOT y = f32[8] custom-call(x), "
                "custom_call_target=\"anything\""),
      Flops(0));
}

}  // namespace
}  // namespace meshwright::operators
