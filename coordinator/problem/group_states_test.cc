// Groups in a PlanProblem, against a walk through the step that knows nothing
// of states and tables.
#include "coordinator/problem/group_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/fingerprint.h"
#include "coordinator/estimation/measured_cost.h"
#include "coordinator/export/baselines.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/problem/plan_problem.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "planner/problem/evaluate.h"
#include "planner/search/search.h"

namespace meshwright::formulation {
namespace {

using problem::Picoseconds;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;
using space::Configuration;
using space::SegmentChoice;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(MaxMembersTest, GrowsWithTheRootAndEndsAtEight) {
  std::vector<int> max_members;
  for (int copies : {1, 2, 3, 4, 8, 24, 96, 1000}) {
    max_members.push_back(CountMaxMembers(copies));
  }
  EXPECT_THAT(max_members, ElementsAre(1, 2, 3, 3, 4, 7, 8, 8));
}

TEST(StatesOfTest, APositionEach) {
  std::vector<Configuration> all(5);
  for (int c = 1; c < 5; ++c) all[c].recompute = true;
  all[2].role = {false, true};
  all[3].role = {true, true};
  all[4].role = {true, false};
  const std::vector<char> known(5, true);
  using State = GroupState;
  EXPECT_THAT(ListGroupStates(all, known, 4),
              ElementsAre(State{0, 0}, State{1, 0}, State{2, 0}, State{3, 1},
                          State{3, 2}, State{4, 1}, State{4, 2}, State{4, 3}));
  EXPECT_THAT(ListGroupStates(all, known, 2),
              ElementsAre(State{0, 0}, State{1, 0}, State{2, 0}, State{4, 1}));
  EXPECT_THAT(ListGroupStates(all, known, 1),
              ElementsAre(State{0, 0}, State{1, 0}));
  // A group that could not end does not begin.
  EXPECT_THAT(ListGroupStates(all, {true, true, true, true, false}, 4),
              ElementsAre(State{0, 0}, State{1, 0}));
  EXPECT_TRUE(MayFollow(all, {2, 0}, {3, 1}));
  EXPECT_TRUE(MayFollow(all, {3, 1}, {4, 2}));
  EXPECT_TRUE(MayFollow(all, {4, 2}, {2, 0}));
  EXPECT_FALSE(MayFollow(all, {3, 1}, {4, 3}));
  EXPECT_FALSE(MayFollow(all, {2, 0}, {1, 0}));
  EXPECT_FALSE(MayFollow(all, {0, 0}, {4, 1}));
  all[4].segment_switch = segmenter::SegmentSwitch::kFullySharded;
  EXPECT_FALSE(MayFollow(all, {3, 1}, {4, 2}));
}

struct Cost {
  Picoseconds time{0};
  int64_t peak_bytes = 0;
};

class GroupProblemTest : public testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override {
    request_.switches = {segmenter::SegmentSwitch::kRecompute};
    Build();
    // Two shardings in groups: that of data parallelism and another.
    dp_ = exporting::MakeBaselines(*analysis_, space_)[0].choice;
    for (size_t s = 0; s < dp_.size(); ++s) {
      const SegmentTypeId type = analysis_->type_of_segment[s];
      if (space::FindLongestRun(*analysis_, type) >= 3) layer_ = type;
    }
    const auto& configurations = space_.types[layer_].configurations;
    const int own = configurations[dp_[analysis_->types[layer_]]].splits;
    const int other = (own + 1 + static_cast<int>(GetParam())) %
                      static_cast<int>(configurations.size() / 2);
    splits_ = {own, other};
    for (const Configuration& it : configurations) {
      if (it.recompute && splits_.contains(it.splits)) {
        request_.grouped.push_back(it.describe);
      }
    }
    Build();
    dp_ = exporting::MakeBaselines(*analysis_, space_)[0].choice;
    jobs::FakeMeasurer measurer;
    measurer.machine = GetParam();
    results_ = *measurer.MeasureAll(space_.programs);
    for (auto& [key, row] : results_) {
      row.mutable_measurement()->mutable_memory()->set_temporary_bytes(
          base::Mix(GetParam(), key) % (8 << 20));
    }
    measured_ = *BuildProblem(*analysis_, space_, results_, std::nullopt, {},
                              {.parts = true});
  }

  void Build() {
    analysis_.emplace(*segmenter::AnalyzeSample("gpt2_4l", {1, 2}, request_));
    space::KeyContext context;
    context.mesh = {1, 2};
    space_ = BuildProfileSpace(*analysis_, context);
  }

  const Configuration& At(const SegmentChoice& choice,
                          SegmentIndex segment) const {
    return space_.types[analysis_->type_of_segment[segment]]
        .configurations[choice[segment]];
  }

  // Whether the segment goes on with the group of the one before.
  bool IsMember(const SegmentChoice& choice, SegmentIndex segment) const {
    if (segment == 0) return false;
    const Configuration& before = At(choice, SegmentIndex(segment - 1));
    const Configuration& it = At(choice, segment);
    return analysis_->type_of_segment[segment] ==
               analysis_->type_of_segment[segment - 1] &&
           before.splits == it.splits &&
           before.segment_switch == it.segment_switch && before.role.hands_on &&
           it.role.handed;
  }

  // Forward, then backward; nothing where the parts of groups do not fit, or
  // one is larger than the problem allows.
  std::optional<Cost> Walk(const SegmentChoice& choice) const {
    const size_t count = choice.size();
    Cost cost;
    int members = 0;
    for (SegmentIndex s; s < count; ++s) {
      const Configuration& it = At(choice, s);
      members = IsMember(choice, s) ? members + 1 : 1;
      if (it.role.handed != (members > 1)) return std::nullopt;
      if (it.role.hands_on &&
          (s + 1 == count || !IsMember(choice, SegmentIndex(s + 1)))) {
        return std::nullopt;
      }
      if (members >
          CountMaxMembers(space::FindLongestRun(*analysis_, layer_))) {
        return std::nullopt;
      }
      const auto own = estimation::FindMeasuredCost(space_, it, results_);
      cost.time += own->time;
      cost.peak_bytes += own->persistent_bytes + own->saved_bytes;
    }
    for (const auto& [pair, boundary] : space_.edges) {
      for (int program :
           space_.boundaries[boundary]
               .programs[choice[pair.first]][choice[pair.second]]) {
        const auto& row = results_.at(space_.programs[program].key());
        cost.time += Picoseconds(row.measurement().minimum_ns() * 1000);
      }
    }
    std::map<SegmentIndex, int64_t>
        rematerialized;  // what waits for its backward pass
    int64_t max_live = 0;
    for (size_t behind = count; behind > 0; --behind) {
      const SegmentIndex s(behind - 1);
      if (At(choice, s).role.handed && !rematerialized.contains(s)) {
        SegmentIndex first = s;
        while (IsMember(choice, first)) first = SegmentIndex(first - 1);
        for (SegmentIndex m = first; m <= s; ++m) {
          rematerialized[m] = At(choice, m).rematerialized_bytes;
        }
      }
      rematerialized.erase(s);  // its own is among what its program needs
      int64_t live =
          estimation::FindMeasuredCost(space_, At(choice, s), results_)
              ->transient_bytes;
      for (const auto& [member, bytes] : rematerialized) live += bytes;
      max_live = std::max(max_live, live);
    }
    EXPECT_THAT(rematerialized, IsEmpty());
    cost.peak_bytes += max_live;
    return cost;
  }

  // Calls visit for every choice in which layers take one of the two
  // shardings, and all others what dp gives them.
  template <typename Visit>
  void ForEach(Visit visit) const {
    std::vector<int> options;
    const auto& configurations = space_.types[layer_].configurations;
    for (size_t c = 0; c < configurations.size(); ++c) {
      if (splits_.contains(configurations[c].splits)) {
        options.push_back(static_cast<int>(c));
      }
    }
    std::vector<int> layers;
    for (size_t s = 0; s < dp_.size(); ++s) {
      if (analysis_->type_of_segment[s] == layer_) {
        layers.push_back(static_cast<int>(s));
      }
    }
    std::vector<size_t> digits(layers.size(), 0);
    while (true) {
      SegmentChoice choice = dp_;
      for (size_t i = 0; i < layers.size(); ++i) {
        choice[layers[i]] = options[digits[i]];
      }
      visit(choice);
      size_t i = 0;
      while (i < digits.size() && ++digits[i] == options.size()) {
        digits[i++] = 0;
      }
      if (i == digits.size()) return;
    }
  }

  segmenter::StrategyRequest request_;
  std::optional<segmenter::Analysis> analysis_;
  space::ProfileSpace space_;
  SegmentChoice dp_;
  SegmentTypeId layer_;
  std::set<int> splits_;
  store::Results results_;
  MeasuredProblem measured_;
};

TEST_P(GroupProblemTest, AgreesWithAWalkThroughEveryPlan) {
  std::vector<Cost> costs;
  int broken = 0;
  int largest = 0;
  const space::GroupRole inner = {true, true};
  ForEach([&](const SegmentChoice& choice) {
    const std::optional<Cost> expected = Walk(choice);
    const auto nodes = FromSegments(*analysis_, space_, measured_, choice);
    if (!expected.has_value()) {
      ++broken;
      EXPECT_FALSE(nodes.ok() &&
                   problem::Evaluate(measured_.problem, *nodes).ok());
      return;
    }
    ASSERT_TRUE(nodes.ok()) << nodes.status();
    const auto found = problem::Evaluate(measured_.problem, *nodes);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->time, expected->time);
    EXPECT_EQ(found->peak_bytes, expected->peak_bytes);
    EXPECT_EQ(ToSegments(*analysis_, measured_, *nodes), choice);
    for (SegmentIndex s; s < choice.size(); ++s) {
      largest = std::max(largest, At(choice, s).role == inner ? 3 : 0);
    }
    costs.push_back(*expected);
  });
  EXPECT_GT(broken, 0);
  EXPECT_EQ(largest, 3);
  ASSERT_GT(costs.size(), 100u);

  problem::PlanProblem limited = measured_.problem;
  for (size_t n = 0; n < limited.nodes.size(); ++n) {
    const SegmentTypeId type(limited.nodes[n].type);
    for (size_t i = 0; i < measured_.usable[type].size(); ++i) {
      const int config = measured_.usable[type][i];
      const int splits = space_.types[type].configurations[config].splits;
      const bool allowed = type == layer_
                               ? splits_.contains(splits)
                               : config == dp_[measured_.runs[n].first_segment];
      if (allowed) limited.fixed[static_cast<int>(n)].push_back(i);
    }
  }
  const auto by_bytes = [](const Cost& a, const Cost& b) {
    return a.peak_bytes < b.peak_bytes;
  };
  const int64_t min_bytes =
      std::min_element(costs.begin(), costs.end(), by_bytes)->peak_bytes;
  const int64_t max_bytes =
      std::max_element(costs.begin(), costs.end(), by_bytes)->peak_bytes;
  limited.memory_limit_bytes = min_bytes - 1;
  EXPECT_EQ(search::Solve(limited)->least_memory_bytes, min_bytes);
  for (int percent : {0, 1, 3, 10, 30, 60}) {
    const int64_t limit = min_bytes + (max_bytes - min_bytes) / 100 * percent;
    std::optional<Picoseconds> fastest;
    for (const Cost& it : costs) {
      if (it.peak_bytes > limit) continue;
      if (!fastest.has_value() || it.time < *fastest) fastest = it.time;
    }
    limited.memory_limit_bytes = limit;
    const auto answer = search::Solve(limited);
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_TRUE(answer->plan.has_value());
    EXPECT_EQ(answer->plan->time, *fastest) << percent << " %";
    EXPECT_EQ(answer->Gap(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, GroupProblemTest,
                         testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace meshwright::formulation
