// Sharding and recomputation searched at once are never slower than one after
// the other, on every sample step and on random problems.
#include "tests/integration/two_stages.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "coordinator/planning/recompute_candidates.h"
#include "gtest/gtest.h"
#include "planner/search/testing/random_problem.h"

namespace meshwright {
namespace {

// How often two stages had no plan, and what their plans take over joint's.
struct Tally {
  int compared = 0;
  int none = 0;
  int slower = 0;
  double worst = 1;

  void Add(const std::optional<problem::Evaluation>& apart,
           const problem::Evaluation& joint) {
    if (!apart.has_value()) {
      ++none;
      return;
    }
    ++compared;
    if (apart->time == joint.time) return;
    ++slower;
    if (joint.time == problem::Picoseconds(0)) return;
    worst = std::max(worst, problem::ToSeconds(apart->time) /
                                problem::ToSeconds(joint.time));
  }
};

// At `limits` limits from the least memory to that of the fastest plan.
void Compare(const TwoStages& step, int limits, Tally& tally) {
  const auto min_bytes = step.FindMinBytes();
  const auto max_bytes = step.FastestBytes();
  ASSERT_TRUE(min_bytes.ok()) << min_bytes.status();
  ASSERT_TRUE(max_bytes.ok()) << max_bytes.status();
  for (int i = 0; i < limits; ++i) {
    const int64_t limit =
        *min_bytes + (*max_bytes - *min_bytes) * i / (limits - 1);
    SCOPED_TRACE("limit " + std::to_string(limit));
    const auto joint = step.Joint(limit);
    const auto apart = step.TwoStage(limit);
    const auto sharding = step.Sharding(limit);
    ASSERT_TRUE(joint.ok()) << joint.status();
    ASSERT_TRUE(apart.ok()) << apart.status();
    ASSERT_TRUE(sharding.ok()) << sharding.status();
    ASSERT_TRUE(joint->has_value()) << "the least memory fits";
    tally.Add(*apart, **joint);
    if (apart->has_value()) {
      EXPECT_LE((*joint)->time, (*apart)->time);
    }
    if (sharding->has_value()) {
      EXPECT_LE((*joint)->time, (*sharding)->time);
      // The first that two stages try.
      EXPECT_TRUE(apart->has_value());
    }
  }
}

void Say(const std::string& what, const Tally& tally) {
  std::cout << what << ": two stages slower at " << tally.slower << " of "
            << tally.compared << " limits, up to " << tally.worst
            << " times; no plan at " << tally.none << "\n";
}

std::vector<std::string> Samples() {
  std::vector<std::string> stems;
  for (const auto& entry :
       std::filesystem::directory_iterator("tests/testdata")) {
    const std::string name = entry.path().filename().string();
    const size_t end = name.find(".hlo.pb");
    if (end != std::string::npos) stems.push_back(name.substr(0, end));
  }
  std::sort(stems.begin(), stems.end());
  return stems;
}

std::string Read(const std::string& stem) {
  auto module = base::ReadFile("tests/testdata/" + stem + ".hlo.pb");
  EXPECT_TRUE(module.ok()) << module.status();
  return module.value_or("");
}

class SampleTest : public testing::TestWithParam<std::string> {};

TEST_P(SampleTest, JointIsNeverSlower) {
  // Two machines for the small samples, one for the others.
  const bool is_small = GetParam().ends_with("_tiny");
  Tally tally;
  for (uint64_t machine = 1; machine <= (is_small ? 2 : 1); ++machine) {
    SCOPED_TRACE("machine " + std::to_string(machine));
    const auto step = MeasureMadeUp(Read(GetParam()), machine);
    ASSERT_TRUE(step.ok()) << step.status();
    Compare(TwoStages(*step), 7, tally);
  }
  Say(GetParam(), tally);
}

INSTANTIATE_TEST_SUITE_P(Steps, SampleTest, testing::ValuesIn(Samples()),
                         [](const auto& info) { return info.param; });

TEST(TwoStagesTest, JointIsNeverSlowerWithGroups) {
  Tally tally;
  for (const char* sample : {"gpt2_4l", "llama_4l"}) {
    SCOPED_TRACE(sample);
    const std::string module = Read(sample);
    const auto alone = MeasureMadeUp(module, 3);
    ASSERT_TRUE(alone.ok()) << alone.status();
    const auto groups = planning::FindRecomputeCandidates(*alone);
    ASSERT_TRUE(groups.ok()) << groups.status();
    ASSERT_FALSE(groups->empty());
    const auto step = MeasureMadeUp(module, 3, *groups);
    ASSERT_TRUE(step.ok()) << step.status();
    Compare(TwoStages(*step), 5, tally);
  }
  Say("in groups", tally);
}

// Every configuration once more: slower, with less saved.
TwoStages WithRecomputation(problem::PlanProblem problem, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Recomputation> types;
  for (problem::NodeType& type : problem.types) {
    const auto plain = type.configs;
    Recomputation& of_type = types.emplace_back();
    for (int pass = 0; pass < 2; ++pass) {
      for (size_t c = 0; c < plain.size(); ++c) {
        of_type.recomputes.push_back(pass == 1);
        of_type.sharding.push_back(static_cast<int>(c));
      }
    }
    for (problem::Config config : plain) {
      config.time += problem::Picoseconds(random() % 4);
      config.transient_bytes += config.saved_bytes;
      config.saved_bytes /= 2 + static_cast<int64_t>(random() % 4);
      type.configs.push_back(config);
    }
  }
  for (problem::Table& table : problem.tables) {
    const problem::Table plain = std::exchange(table, {});
    table.rows = 2 * plain.rows;
    table.columns = 2 * plain.columns;
    for (int row = 0; row < table.rows; ++row) {
      for (int column = 0; column < table.columns; ++column) {
        table.entries.push_back(
            plain.at(row % plain.rows, column % plain.columns));
      }
    }
  }
  return {std::move(problem), std::move(types)};
}

TEST(TwoStagesTest, JointIsNeverSlowerOnRandomProblems) {
  constexpr search::Skeleton kSkeletons[] = {
      search::Skeleton::kChain, search::Skeleton::kHub,
      search::Skeleton::kLadder, search::Skeleton::kDense};
  Tally tally;
  for (uint64_t seed = 0; seed < 250; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const search::Kinds kinds{.skips = seed % 3 == 0,
                              .tied = seed % 5 == 0,
                              .skeleton = kSkeletons[seed % 4],
                              .nodes = 6,
                              .copies = 9,
                              .configs = 4};
    Compare(WithRecomputation(search::RandomProblem(seed, kinds), seed), 5,
            tally);
    if (HasFatalFailure()) return;
  }
  Say("random problems", tally);
  // Or else nothing was compared.
  EXPECT_GT(tally.slower, 50);
}

}  // namespace
}  // namespace meshwright
