#include "planner/checkpoint/min_kernels.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace meshwright::checkpoint {
namespace {

TEST(MinKernelsTest, EveryInstructionSetGivesTheSameBits) {
  std::mt19937 random(1);
  for (int count = 0; count < 40; ++count) {
    std::vector<float> a(count), b(count), plain(count);
    for (int i = 0; i < count; ++i) {
      a[i] = static_cast<float>(random() % 100'000) / 7;
      b[i] = static_cast<float>(random() % 100'000) / 3;
      plain[i] = i % 3 == 0 ? std::numeric_limits<float>::infinity()
                            : static_cast<float>(random() % 50'000);
    }
    std::vector<float> expected = plain, chosen = plain;
    for (int i = 0; i < count; ++i) {
      expected[i] = std::min(expected[i], a[i] + 0.3f + b[i]);
      expected[i] = std::min(expected[i], b[i] + 0.7f);
    }
    const auto run = [&](const MinKernels& kernels, std::vector<float>& out) {
      kernels.both(out.data(), a.data(), b.data(), 0.3f, count);
      kernels.one(out.data(), b.data(), 0.7f, count);
    };
    run(GetPlainMinKernels(), plain);
    run(ChooseMinKernels(), chosen);
    EXPECT_EQ(plain, expected);
    EXPECT_EQ(chosen, expected);
  }
}

}  // namespace
}  // namespace meshwright::checkpoint
