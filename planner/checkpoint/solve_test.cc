#include "planner/checkpoint/solve.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "planner/checkpoint/exhaustive.h"
#include "planner/checkpoint/random_chain.h"
#include "planner/checkpoint/replay.h"
namespace meshwright::checkpoint {
namespace {
TEST(SolveTest, Enumeration) {
  int worse = 0, lessmem = 0, total = 0;
  for (int n = 1; n <= 7; ++n) {
    auto t0 = std::chrono::steady_clock::now();
    for (int seed = 0; seed < (n <= 4   ? 200
                               : n <= 5 ? 60
                               : n == 6 ? 20
                                        : 4);
         ++seed) {
      ChainKind kind{.stages = n};
      kind.transients = seed % 2;
      kind.communication = seed % 3;
      kind.zeros = seed % 5 == 0;
      kind.proportional = seed % 7 == 0;
      const Chain chain = RandomChain(seed * 10 + n, kind);
      const auto front = SolveExhaustively(chain, Schedules::kPersistent);
      const auto free_front =
          SolveExhaustively(chain, Schedules::kUnrestricted);
      ASSERT_FALSE(front.empty());
      for (size_t i = 0; i < front.size(); ++i) {
        ++total;
        auto a = Solve(chain, front[i].peak_bytes);
        ASSERT_TRUE(a.ok()) << a.status();
        ASSERT_TRUE(a->plan.has_value()) << n << " " << seed;
        EXPECT_EQ(a->plan->makespan.count(), front[i].makespan.count())
            << n << " " << seed << " " << a->solver;
        EXPECT_EQ(a->plan->makespan, a->lower_bound);
        if (front[i].peak_bytes > 1) {
          auto b = Solve(chain, front[i].peak_bytes - 1);
          ASSERT_TRUE(b.ok());
          if (i == 0) {
            EXPECT_FALSE(b->plan.has_value());
            EXPECT_EQ(b->least_memory_bytes, front[0].peak_bytes);
          } else
            EXPECT_EQ(b->plan->makespan, front[i - 1].makespan);
        }
        int64_t best = 0;
        for (auto& p : free_front)
          if (p.peak_bytes <= front[i].peak_bytes) best = p.makespan.count();
        if (best < front[i].makespan.count()) ++worse;
      }
      if (free_front[0].peak_bytes < front[0].peak_bytes) ++lessmem;
    }
    printf("n %d %.2fs points %d worse %d lessmem %d\n", n,
           std::chrono::duration<double>(std::chrono::steady_clock::now() - t0)
               .count(),
           total, worse, lessmem);
  }
}
}  // namespace
}  // namespace meshwright::checkpoint
