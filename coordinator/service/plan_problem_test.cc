#include "coordinator/service/plan_problem.h"

#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "coordinator/service/fake_measurer.h"
#include "planner/problem/validate.h"

namespace meshwright::service {
namespace {

// An encoder, a decoder, and between them what every decoder layer reads.
class PlanProblemTest : public testing::Test {
 protected:
  PlanProblemTest()
      : analysis_(*segmenter::Analyze(
            *ir::LoadModule(*base::ReadFile("tests/testdata/t5_tiny.hlo.pb")),
            {1, 2})) {
    space::KeyContext context;
    context.mesh = {1, 2};
    space_ = BuildProfileSpace(analysis_, context);
    FakeMeasurer measurer;
    measurer.machine = 1;
    const auto rows = measurer.MeasureAll(space_.programs);
    EXPECT_TRUE(rows.ok()) << rows.status();
    results_ = *rows;
  }

  problem::PlanProblem Build() const {
    return BuildProblem(analysis_, space_, results_, std::nullopt)->problem;
  }

  // The border as if the later segment had made its tensors.
  int Turned(int border) {
    space::Border turned;
    const space::Border it = space_.borders[border];
    turned.from_segment = it.to_segment;
    turned.to_segment = it.from_segment;
    for (const space::BorderTensor& tensor : it.tensors) {
      turned.tensors.push_back(
          {tensor.to_value, tensor.from_value, tensor.gradient});
    }
    turned.programs.resize(it.programs[0].size());
    for (size_t b = 0; b < turned.programs.size(); ++b) {
      for (const auto& row : it.programs) turned.programs[b].push_back(row[b]);
    }
    space_.borders.push_back(std::move(turned));
    return static_cast<int>(space_.borders.size()) - 1;
  }

  using Tables = std::map<std::pair<int, int>, std::vector<int64_t>>;

  // By edge; -1 where a pair is forbidden.
  static Tables TablesOf(const problem::PlanProblem& problem) {
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

  const segmenter::Analysis analysis_;
  space::ProfileSpace space_;
  store::Results results_;
};

// Whichever of two segments makes a tensor: an encoder's first layers may come
// behind a decoder's embedding.
TEST_F(PlanProblemTest, EdgesGoByPosition) {
  const Tables expected = TablesOf(Build());
  int turned = 0;
  for (auto& [pair, border] : space_.edges) {
    if (analysis_.type_of_segment[pair.first] ==
        analysis_.type_of_segment[pair.second]) {
      continue;
    }
    border = Turned(border);
    std::swap(pair.first, pair.second);
    ++turned;
  }
  ASSERT_GT(turned, 5);
  const problem::PlanProblem problem = Build();
  EXPECT_TRUE(problem::Validate(problem).ok());
  EXPECT_EQ(TablesOf(problem), expected);
}

TEST_F(PlanProblemTest, BordersBetweenTwoSegmentsAddUp) {
  const Tables once = TablesOf(Build());
  const auto [pair, border] = space_.edges.front();
  ASSERT_NE(analysis_.type_of_segment[pair.first],
            analysis_.type_of_segment[pair.second]);
  space_.edges.push_back({{pair.second, pair.first}, Turned(border)});
  const Tables twice = TablesOf(Build());
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

}  // namespace
}  // namespace meshwright::service
