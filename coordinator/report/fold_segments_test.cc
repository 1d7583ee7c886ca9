#include "coordinator/report/fold_segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::report {
namespace {

// One segment of each type, a second long.
v1::Plan MakePlan(const std::vector<int>& types) {
  v1::Plan plan;
  for (const int type : types) {
    v1::PlanSegment& segment = *plan.add_segments();
    segment.set_type(type);
    segment.set_seconds(1);
    segment.set_memory_bytes(10);
  }
  return plan;
}

// "0 1x4 2" and "0 (1 2)x3": runs, and groups in brackets.
std::string Fold(const std::vector<int>& types) {
  std::string text;
  for (const RepeatedRuns& group :
       FoldSegments(MakePlan(types).segments(), /*first=*/0)) {
    if (!text.empty()) text += " ";
    if (group.repeat > 1) text += "(";
    for (size_t i = 0; i < group.runs.size(); ++i) {
      if (i > 0) text += " ";
      text += std::to_string(group.runs[i].type);
      if (group.runs[i].count > 1) {
        text += "x" + std::to_string(group.runs[i].count);
      }
    }
    if (group.repeat > 1) text += ")x" + std::to_string(group.repeat);
  }
  return text;
}

TEST(FoldSegments, EqualSegmentsInARowAreARun) {
  EXPECT_EQ(Fold({0, 1, 1, 1, 1, 2}), "0 1x4 2");
  EXPECT_EQ(Fold({}), "");
}

TEST(FoldSegments, RunsThatRepeatAreAGroup) {
  EXPECT_EQ(Fold({0, 1, 2, 1, 2, 1, 2, 3}), "0 (1 2)x3 3");
  EXPECT_EQ(Fold({1, 1, 2, 1, 1, 2}), "(1x2 2)x2");
  EXPECT_EQ(Fold({1, 2, 1}), "1 2 1");
}

TEST(FoldSegments, AConfigurationOfItsOwnEndsARun) {
  v1::Plan plan = MakePlan({1, 1, 1});
  plan.mutable_segments(1)->set_config(7);
  EXPECT_EQ(FoldSegments(plan.segments(), 0).size(), 3u);
}

TEST(FoldSegments, FiguresAreSumsOverEveryRepetition) {
  const std::vector<RepeatedRuns> groups =
      FoldSegments(MakePlan({1, 1, 2, 1, 1, 2}).segments(), /*first=*/4);
  ASSERT_EQ(groups.size(), 1u);
  const report::Run& run = groups[0].runs[0];
  EXPECT_EQ(run.first, 4);
  EXPECT_EQ(run.count, 2);
  EXPECT_DOUBLE_EQ(run.seconds, 4);
  EXPECT_EQ(run.memory_bytes, 40);
}

}  // namespace
}  // namespace meshwright::report
