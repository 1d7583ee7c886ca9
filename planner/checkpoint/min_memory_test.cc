#include "planner/checkpoint/min_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "planner/checkpoint/guided.h"
#include "planner/checkpoint/replay.h"
#include "planner/checkpoint/testing/random_chain.h"
#include "planner/checkpoint/unroll.h"

namespace meshwright::checkpoint {
namespace {

const base::Deadline kLate{.at = std::chrono::steady_clock::time_point::min()};

std::vector<Chain> Chains() {
  std::vector<Chain> chains;
  for (int seed = 0; seed < 600; ++seed) {
    chains.push_back(RandomChain(seed, {.stages = 1 + seed % 23,
                                        .largest = seed % 3 == 0 ? 4 : 1000,
                                        .transients = seed % 2 == 0,
                                        .communication = seed % 5 == 0,
                                        .zeros = seed % 4 == 0,
                                        .distinct = seed % 7 == 0 ? 2 : 0}));
    if (seed % 3 != 1) continue;
    // Forwards that need far more than backwards, on either side of large
    // gradients: keeping nothing is often too expensive.
    Chain& chain = chains.back();
    for (int i = 0; i < chain.stages(); ++i) {
      chain.forward_transient_bytes.resize(chain.stages());
      chain.forward_transient_bytes[i] *= 1 + seed % 11;
    }
  }
  return chains;
}

// The two ways of costs.h, and nothing else.
class Plain {
 public:
  explicit Plain(const Costs& costs) : costs_(costs) {}

  int64_t MinBytes(int s, int t) {
    const auto [entry, is_new] = known_.try_emplace({s, t}, 0);
    if (!is_new) return entry->second;
    int64_t best = costs_.SaveNeed(s, t);
    if (s < t) best = std::max(best, costs_.saved(s) + MinBytes(s + 1, t));
    int64_t step = 0;
    for (int k = s + 1; k <= t; ++k) {
      step = std::max(step, costs_.KeepStep(s, k));
      best = std::min(
          best, std::max({step + costs_.Gradient(t),
                          costs_.act(k) + MinBytes(k, t), MinBytes(s, k - 1)}));
    }
    return known_[{s, t}] = best;
  }

 private:
  const Costs& costs_;
  std::map<std::pair<int, int>, int64_t> known_;
};

TEST(MinMemoryTest, FilledItIsThatOfTheTwoWays) {
  int searched = 0;
  for (const Chain& chain : Chains()) {
    const Costs costs(chain);
    MinMemory memory(costs);
    const MinMemory at_first(costs);
    ASSERT_TRUE(memory.Fill());
    Plain plain(costs);
    for (int s = 0; s < chain.stages(); ++s) {
      for (int t = s; t < chain.stages(); ++t) {
        ASSERT_EQ(memory.min_bytes(s, t), plain.MinBytes(s, t))
            << s << ", " << t;
        ASSERT_LE(memory.min_bytes(s, t), at_first.min_bytes(s, t));
        ASSERT_EQ(memory.full(s, t), at_first.full(s, t));
        searched += memory.min_bytes(s, t) < at_first.min_bytes(s, t);
      }
    }
  }
  EXPECT_GT(searched, 100);  // or the chains are too tame to tell
}

TEST(MinMemoryTest, BeforeItIsFilledAScheduleFitsAllTheSame) {
  for (const Chain& chain : Chains()) {
    const Costs costs(chain);
    MinMemory memory(costs);
    EXPECT_FALSE(memory.Fill(kLate));
    const int64_t min_bytes = memory.min_bytes(0, chain.stages() - 1);
    for (const int64_t more : {0, 1, 500}) {
      const Sequence sequence =
          Unroll(costs, min_bytes + more,
                 GuidedDecide(costs, memory, [&](const Interval& interval) {
                   return EstimateStraight(costs, memory, interval);
                 }));
      const auto replayed = Replay(chain, sequence);
      ASSERT_TRUE(replayed.ok()) << replayed.status();
      EXPECT_LE(replayed->peak_bytes, min_bytes + more + chain.act_bytes[0]);
    }
  }
}

TEST(MinMemoryTest, GoesOnWhereItWasInterrupted) {
  for (const Chain& chain : Chains()) {
    const Costs costs(chain);
    MinMemory memory(costs);
    EXPECT_FALSE(memory.Fill(kLate));
    EXPECT_TRUE(memory.Fill());
    EXPECT_TRUE(memory.Fill(kLate));  // nothing is left to do
    EXPECT_EQ(memory.min_bytes(0, chain.stages() - 1),
              Plain(costs).MinBytes(0, chain.stages() - 1));
  }
}

}  // namespace
}  // namespace meshwright::checkpoint
