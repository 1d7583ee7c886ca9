#include "coordinator/problem/plan_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "coordinator/estimation/measured_cost.h"
#include "coordinator/export/baselines.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "planner/problem/evaluate.h"
#include "planner/problem/validate.h"

namespace meshwright::formulation {
namespace {

class MeasuredTest : public testing::Test {
 protected:
  explicit MeasuredTest(const std::string& model)
      : analysis_(*segmenter::AnalyzeSample(model, {1, 2})) {
    space::KeyContext context;
    context.mesh = {1, 2};
    space_ = BuildProfileSpace(analysis_, context);
    jobs::FakeMeasurer measurer;
    measurer.machine = 1;
    const auto rows = measurer.MeasureAll(space_.programs);
    EXPECT_TRUE(rows.ok()) << rows.status();
    results_ = *rows;
  }

  problem::PlanProblem Build() const {
    return BuildProblem(analysis_, space_, results_, std::nullopt)->problem;
  }

  segmenter::Analysis analysis_;
  space::ProfileSpace space_;
  store::Results results_;
};

// An encoder, a decoder, and between them what every decoder layer reads.
class PlanProblemTest : public MeasuredTest {
 protected:
  PlanProblemTest() : MeasuredTest("t5_tiny") {}

  // The boundary as if the later segment had made its tensors.
  int Turned(int boundary) {
    space::Boundary turned;
    const space::Boundary it = space_.boundaries[boundary];
    turned.from_segment = it.to_segment;
    turned.to_segment = it.from_segment;
    for (const space::BoundaryTensor& tensor : it.tensors) {
      turned.tensors.push_back(
          {tensor.to_value, tensor.from_value, tensor.gradients});
    }
    turned.programs.resize(it.programs[0].size());
    for (size_t b = 0; b < turned.programs.size(); ++b) {
      for (const auto& row : it.programs) turned.programs[b].push_back(row[b]);
    }
    space_.boundaries.push_back(std::move(turned));
    return static_cast<int>(space_.boundaries.size()) - 1;
  }

  using Tables = std::map<std::pair<int, int>, std::vector<int64_t>>;

  // By edge; -1 where a pair is forbidden.
  static Tables ListTables(const problem::PlanProblem& problem) {
    Tables tables;
    for (const problem::Edge& edge : problem.edges) {
      EXPECT_LT(edge.from, edge.to);
      for (const auto& it : problem.tables[edge.table].entries) {
        tables[{edge.from, edge.to}].push_back(it.has_value() ? it->count()
                                                              : -1);
      }
    }
    return tables;
  }
};

// Whichever of two segments makes a tensor: an encoder's first layers may come
// behind a decoder's embedding.
TEST_F(PlanProblemTest, EdgesGoByPosition) {
  const Tables expected = ListTables(Build());
  int turned = 0;
  for (auto& [pair, boundary] : space_.edges) {
    if (analysis_.type_of_segment[pair.first] ==
        analysis_.type_of_segment[pair.second]) {
      continue;
    }
    boundary = Turned(boundary);
    std::swap(pair.first, pair.second);
    ++turned;
  }
  ASSERT_GT(turned, 5);
  const problem::PlanProblem problem = Build();
  EXPECT_TRUE(problem::Validate(problem).ok());
  EXPECT_EQ(ListTables(problem), expected);
}

TEST_F(PlanProblemTest, BoundariesBetweenTwoSegmentsAddUp) {
  const Tables once = ListTables(Build());
  const auto [pair, boundary] = space_.edges.front();
  ASSERT_NE(analysis_.type_of_segment[pair.first],
            analysis_.type_of_segment[pair.second]);
  space_.edges.push_back({{pair.second, pair.first}, Turned(boundary)});
  const Tables twice = ListTables(Build());
  ASSERT_EQ(once.size(), twice.size());
  int changed = 0;
  for (const auto& [ends, entries] : once) {
    for (size_t i = 0; i < entries.size(); ++i) {
      const int64_t now = twice.at(ends)[i];
      if (now == entries[i]) continue;
      EXPECT_EQ(now, 2 * entries[i]);
      ++changed;
    }
  }
  EXPECT_GT(changed, 0);
}

// Micro-batches: most boundaries lie within a loop.
class LoopTest : public MeasuredTest {
 protected:
  LoopTest() : MeasuredTest("accumulate_tiny") {}
};

// As long as a row may be, and as often as a step may run it.
TEST_F(LoopTest, LongRowsOfManyTripsAreLongNotNegative) {
  constexpr int64_t kHourNs = 3'600'000'000'000;
  for (auto& [key, row] : results_) {
    row.mutable_measurement()->set_minimum_ns(kHourNs);
    row.mutable_measurement()->set_median_ns(kHourNs);
  }
  for (ir::Loop& loop : analysis_.module.loops) loop.trips = 3'000;
  const auto edges = space_.edges;
  for (int i = 0; i < 10; ++i) {  // they add up
    space_.edges.insert(space_.edges.end(), edges.begin(), edges.end());
  }
  problem::Picoseconds longest{0};
  for (const problem::Table& table : Build().tables) {
    for (const auto& entry : table.entries) {
      if (!entry.has_value()) continue;
      EXPECT_GE(*entry, problem::Picoseconds(0));
      longest = std::max(longest, *entry);
    }
  }
  EXPECT_EQ(longest, estimation::kLongestCost);
}

// An embedding that is the head too, and layers with one set of weights.
class SharedWeightsTest : public MeasuredTest {
 protected:
  SharedWeightsTest() : MeasuredTest("albert_4l") {}

  // Whether every weight matrix is split one way by all segments of blocks that
  // read it, estimated without links.
  bool AllAgree(const space::SegmentChoice& choice) const {
    std::map<ir::ValueId, space::Sharding> known;
    for (size_t s = 0; s < choice.size(); ++s) {
      const segmenter::SegmentGraph& graph = analysis_.graphs[s];
      for (int i = 0; i < graph.input_count; ++i) {
        const ir::ValueId origin = graph.values[i].origin;
        const ir::Instruction& it = analysis_.module.at(origin);
        if (it.opcode != ir::Opcode::kParameter || it.shape.rank() < 2 ||
            analysis_.passes.roles[it.attributes().parameter_number()] !=
                segmenter::ArgumentRole::kParameter) {
          continue;
        }
        const space::Sharding sharding =
            space_.types[analysis_.type_of_segment[s]]
                .configurations[choice[s]]
                .annotation.GetSharding(i, it.shape, {1, 2});
        if (known.try_emplace(origin, sharding).first->second != sharding) {
          return false;
        }
      }
    }
    return true;
  }
};

TEST_F(SharedWeightsTest, APlanSplitsASharedWeightOneWay) {
  const auto measured = BuildProblem(analysis_, space_, results_, std::nullopt);
  ASSERT_TRUE(measured.ok()) << measured.status();
  ASSERT_TRUE(problem::Validate(measured->problem).ok());
  std::mt19937_64 random(1);
  int allowed = 0;
  for (int round = 0; round < 400; ++round) {
    space::SegmentChoice choice;
    for (segmenter::SegmentTypeId type : analysis_.type_of_segment) {
      const size_t count = space_.types[type].configurations.size();
      choice.push_back(static_cast<int>(random() % count));
    }
    // Of these every other one is made to agree, and then in one place not.
    if (round % 4 > 0) exporting::MakeConsistent(analysis_, space_, choice);
    if (round % 4 > 2) choice[3] = (choice[3] + 1) % 81;
    const auto states = FromSegments(analysis_, space_, *measured, choice);
    ASSERT_TRUE(states.ok()) << states.status();
    const bool evaluated = problem::Evaluate(measured->problem, *states).ok();
    EXPECT_EQ(evaluated, AllAgree(choice)) << round;
    allowed += evaluated;
  }
  EXPECT_EQ(allowed, 200);
}

TEST_F(SharedWeightsTest, EqualLayersStayOneNode) {
  const auto measured = BuildProblem(analysis_, space_, results_, std::nullopt);
  ASSERT_TRUE(measured.ok()) << measured.status();
  std::vector<int> repeats;
  for (const SegmentRun& run : measured->runs) repeats.push_back(run.count);
  EXPECT_EQ(repeats, (std::vector<int>{1, 1, 1, 2, 1}));
  EXPECT_EQ(measured->problem.self_edges.size(), 1u);
}

TEST_F(SharedWeightsTest, NamedPlansAgree) {
  for (const auto& it : exporting::MakeBaselines(analysis_, space_)) {
    EXPECT_TRUE(AllAgree(it.choice)) << it.name;
  }
  for (const auto& it : exporting::MakeOpLevelBaselines(analysis_, space_)) {
    EXPECT_TRUE(AllAgree(it.choice)) << it.name;
  }
}

}  // namespace
}  // namespace meshwright::formulation
