#include "planner/search/fill_room.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "planner/search/improve.h"
#include "planner/search/search.h"

namespace meshwright::search {
namespace {

const Until kOn = [] { return false; };

struct Kind {
  int variables = 8;
  int places = 3;
  int domains = 1;
  bool transients = false;
  bool forbidden = false;
};

Model RandomModel(uint64_t seed, const Kind& kind) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t bound) {
    return static_cast<int64_t>(random() % bound);
  };
  Model model{.base = below(50)};
  for (int d = 0; d < kind.domains; ++d) {
    Domain domain;
    for (int c = 0; c < kind.places; ++c) {
      domain.configs.push_back(c);
      domain.time.push_back(
          kind.forbidden && c > 0 && below(4) == 0 ? kNever : below(40));
      domain.bytes.push_back(below(40));
      domain.transient.push_back(kind.transients ? below(10) : 0);
    }
    model.domains.push_back(domain);
  }
  for (int v = 0; v < kind.variables; ++v) {
    model.variables.push_back({v % kind.domains, v});
  }
  return model;
}

// The least time of plans within the limit that change any seven variables, at
// no larger transient: of `variables` = 7 that is all of them.
Cost LeastTime(const Model& model, int64_t limit, int64_t most_transient) {
  std::vector<int> places(model.variables.size(), 0);
  Cost least = kNever;
  while (true) {
    const Draft draft(model, places);
    int64_t transient = 0;
    for (size_t v = 0; v < places.size(); ++v) {
      transient = std::max(transient, model.domain(v).transient[places[v]]);
    }
    // Room is made beside the transient that the first plan had.
    if (transient <= most_transient &&
        draft.peak() - transient + most_transient <= limit) {
      least = std::min(least, draft.time());
    }
    size_t v = 0;
    while (v < places.size() && ++places[v] == model.size(v)) places[v++] = 0;
    if (v == places.size()) return least;
  }
}

TEST(FillRoomTest, OfSevenVariablesItIsTheBest) {
  int better = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Model model = RandomModel(
        seed, {.variables = 7,
               .domains = seed % 3 == 0 ? 1 : static_cast<int>(1 + seed % 7),
               .transients = seed % 2 == 0,
               .forbidden = seed % 5 < 2});
    std::vector<int> frugal;
    int64_t transient = 0;
    for (int v = 0; v < 7; ++v) {
      int best = 0;
      for (int c = 0; c < model.size(v); ++c) {
        const Domain& domain = model.domain(v);
        if (domain.time[c] < kNever && domain.bytes[c] < domain.bytes[best]) {
          best = c;
        }
      }
      frugal.push_back(best);
      transient = std::max(transient, model.domain(v).transient[best]);
    }
    const Draft draft(model, frugal);
    if (draft.time() >= kNever) continue;
    const int64_t limit = draft.peak() + static_cast<int64_t>(seed % 90);
    const Draft filled(model, FillRoom(model, frugal, limit, 0, kOn));
    EXPECT_LE(filled.peak(), limit) << seed;
    EXPECT_EQ(filled.time(), LeastTime(model, limit, transient)) << seed;
    better += filled.time() < draft.time();
  }
  EXPECT_GT(better, 200);
}

TEST(FillRoomTest, OfMoreItIsNoWorse) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Model model =
        RandomModel(seed, {.variables = static_cast<int>(1 + seed % 20),
                           .places = 4,
                           .domains = static_cast<int>(1 + seed % 4),
                           .transients = true});
    const std::vector<int> places(model.variables.size(), seed % 4);
    const Draft draft(model, places);
    for (const int64_t limit : {draft.peak() - 1, draft.peak()}) {
      const Draft filled(model, FillRoom(model, places, limit, 0, kOn));
      EXPECT_LE(filled.time(), draft.time());
      EXPECT_LE(filled.peak(), draft.peak());
    }
  }
}

// Time and bytes in one ratio, nothing else: only a plan that fills the room to
// the byte meets the bound.
TEST(FillRoomTest, EqualRatiosAreMostlyProved) {
  int proved = 0;
  for (const int copies : {12, 24, 100, 1000}) {
    std::mt19937_64 random(copies);
    problem::PlanProblem problem;
    problem.types.push_back({"layer", {}});
    for (int c = 0; c < 60; ++c) {
      const auto units =
          static_cast<int64_t>(200'000'000 + random() % 300'000'000);
      problem.types[0].configs.push_back(
          {problem::Picoseconds(128 * units), 600'000'000 - units, 0, 0});
    }
    problem.nodes.push_back({.type = 0, .repeat = copies});
    for (const int64_t bytes_each : {200'000'000, 230'000'000, 300'000'000}) {
      problem.memory_limit_bytes =
          bytes_each * copies + static_cast<int64_t>(random() % 1000);
      // Where the byte is not met, the proof that none does takes minutes.
      constexpr Effort kLittle{
          .candidates = 100'000, .fine_candidates = 100'000, .ilp_entries = 0};
      const auto answer = Solve(problem, {.effort = kLittle});
      ASSERT_TRUE(answer.ok()) << answer.status();
      ASSERT_TRUE(answer->plan.has_value());
      EXPECT_LE(answer->plan->peak_bytes, *problem.memory_limit_bytes);
      EXPECT_LT(answer->Gap(), 1e-6) << copies << " copies, " << bytes_each;
      proved += answer->Gap() == 0;
    }
  }
  EXPECT_GE(proved, 8) << "of 12";
}

}  // namespace
}  // namespace meshwright::search
