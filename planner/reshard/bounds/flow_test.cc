#include "planner/reshard/bounds/flow.h"

#include <gtest/gtest.h>

namespace meshwright::reshard {
namespace {

TEST(FlowTest, AMinimumCutLimitsTheFlow) {
  Flow flow(4);
  flow.AddEdge(0, 1, 10);
  const int narrow = flow.AddEdge(1, 2, 3);
  flow.AddEdge(0, 2, 4);
  const int last = flow.AddEdge(2, 3, 20);
  EXPECT_EQ(flow.Run(0, 3), 7);
  EXPECT_EQ(flow.Sent(narrow), 3);
  EXPECT_EQ(flow.Sent(last), 7);
  EXPECT_EQ(flow.SourceSide(0), (std::vector<bool>{true, true, false, false}));
}

// Job i goes to sender i or i + 1; one more job for sender 0 moves all of them
// by one.
TEST(FlowTest, APathThroughEveryNodeNeedsNoRecursion) {
  constexpr int kJobs = 100'000;
  const auto job = [](int i) { return 1 + i; };
  const auto sender = [](int i) { return 1 + kJobs + 1 + i; };
  const int sink = sender(kJobs + 1);
  Flow flow(sink + 1);
  for (int i = 0; i < kJobs; ++i) {
    flow.AddEdge(0, job(i), 1);
    flow.AddEdge(job(i), sender(i), 1);
    flow.AddEdge(job(i), sender(i + 1), 1);
  }
  flow.AddEdge(0, job(kJobs), 1);
  flow.AddEdge(job(kJobs), sender(0), 1);
  for (int i = 0; i <= kJobs; ++i) flow.AddEdge(sender(i), sink, 1);
  EXPECT_EQ(flow.Run(0, sink), kJobs + 1);
}

}  // namespace
}  // namespace meshwright::reshard
