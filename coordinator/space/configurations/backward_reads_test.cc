#include "coordinator/space/configurations/backward_reads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "coordinator/segmenter/testing/test_steps.h"

namespace meshwright::space {
namespace {

class BackwardReadsTest : public testing::Test {
 protected:
  struct Count {
    int kept = 0;
    int left = 0;
  };

  // Of the forward values of a layer that `is_meant` takes.
  template <typename IsMeant>
  static Count Keep(const segmenter::Analysis& analysis,
                    const IsMeant& is_meant) {
    Count count;
    for (const segmenter::SegmentIndex segment : analysis.types) {
      const segmenter::SegmentView view(analysis, analysis.graphs[segment]);
      const BackwardReads reads(view);
      for (int i = 0; i < view.count(); ++i) {
        if (view.IsInput(i) || !view.IsForward(i) || !is_meant(view, i)) {
          continue;
        }
        const auto& users = view.Users(i);
        const bool keeps =
            reads.KeepsForTwin(i) ||
            std::any_of(users.begin(), users.end(),
                        [&](int user) { return reads.KeepsFor(i, user); });
        ++(keeps ? count.kept : count.left);
      }
    }
    return count;
  }

  static std::string_view Name(const segmenter::SegmentView& view, int value) {
    return view.At(value).attributes().opcode();
  }
};

// GELU: x (1 + tanh(...)) / 2, whose derivative reads tanh, and 1 + tanh.
TEST_F(BackwardReadsTest, WhatIsCheapIsComputedAgain) {
  const auto analysis = segmenter::AnalyzeSample("gpt2_2l", {1, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  const Count tanh =
      Keep(*analysis, [](const segmenter::SegmentView& view, int i) {
        return Name(view, i) == "tanh";
      });
  EXPECT_GT(tanh.kept, 0);
  EXPECT_EQ(tanh.left, 0);
  const Count cheap =
      Keep(*analysis, [](const segmenter::SegmentView& view, int i) {
        const auto& operands = view.Operands(i);
        return Name(view, i) == "add" &&
               std::any_of(operands.begin(), operands.end(), [&](int operand) {
                 return Name(view, operand) == "tanh";
               });
      });
  EXPECT_EQ(cheap.kept, 0);
  EXPECT_GT(cheap.left, 0);
}

// x W, whose gradients read x and W, and nothing of the product.
TEST_F(BackwardReadsTest, AContractionReadsItsOperandsWhole) {
  const auto analysis = segmenter::AnalyzeSample("gpt2_2l", {1, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  const Count factors =
      Keep(*analysis, [](const segmenter::SegmentView& view, int i) {
        const auto& users = view.Users(i);
        return Name(view, i) == "multiply" &&
               std::any_of(users.begin(), users.end(), [&](int user) {
                 return view.IsForward(user) && view.IsContraction(user);
               });
      });
  EXPECT_GT(factors.kept, 0);
}

// BERT's GELU is made of erf, which is made of exp(-x x) in both passes.
TEST_F(BackwardReadsTest, WhatBothPassesComputeIsComputedOnce) {
  const auto analysis = segmenter::AnalyzeSample("bert_2l", {1, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  const Count exponentials =
      Keep(*analysis, [](const segmenter::SegmentView& view, int i) {
        return Name(view, i) == "exponential" &&
               Name(view, view.Operands(i)[0]) == "negate";
      });
  EXPECT_GT(exponentials.kept, 0);
}

}  // namespace
}  // namespace meshwright::space
