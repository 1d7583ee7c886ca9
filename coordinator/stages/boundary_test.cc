#include "coordinator/stages/boundary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::stages {
namespace {

// gpt2_tiny, batch 4, sequence 8, hidden 32: 4 KiB cross between layers.
constexpr int64_t kActivation = 4 * 8 * 32 * 4;

class BoundaryTest : public testing::Test {
 protected:
  BoundaryTest() {
    for (const space::Mesh& mesh : ListStageMeshes(cluster_)) {
      v1::PlanRequest request;
      request.set_hlo_module(segmenter::ReadSample("gpt2_tiny"));
      for (const int64_t size : mesh) request.mutable_mesh()->add_shape(size);
      auto step = planning::OpenStep(request, &measurer_);
      EXPECT_TRUE(step.ok()) << step.status();
      steps_.push_back(*std::move(step));
    }
    passes_ = FindPasses(steps_[0].analysis);
    cuts_ = FindCuts(steps_[0].analysis, passes_, 1);
  }

  // Configuration 0 is data parallelism: the batch is split.
  StageSide Side(int mesh, int first, int end,
                 const std::vector<int64_t>& devices) const {
    return {&steps_[mesh], segmenter::SegmentIndex(first),
            segmenter::SegmentIndex(end), &first_, &devices};
  }

  absl::StatusOr<BoundaryPlan> Plan(const StageSide& before,
                                    const StageSide& behind) {
    return BoundaryPlanner(cluster_, {1e6, 1e8}, cuts_).Plan(before, behind);
  }

  const Cluster cluster_{2, 2};
  const std::vector<int> first_ = std::vector<int>(16, 0);
  jobs::FakeMeasurer measurer_;
  std::vector<planning::MeasuredStep> steps_;  // 1x1, 1x2, 2x2
  StepPasses passes_;
  std::vector<Cut> cuts_;
};

TEST_F(BoundaryTest, WithinAHostDevicesAreTheHosts) {
  const std::vector<int64_t> left = {0}, right = {1};
  const auto plan = Plan(Side(0, 0, 2, left), Side(0, 2, 4, right));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->within_host);
  EXPECT_EQ(plan->forward.bytes, kActivation);
  EXPECT_EQ(plan->backward.bytes, kActivation);
  EXPECT_DOUBLE_EQ(plan->forward.answer->makespan_seconds, kActivation / 1e8);
  EXPECT_EQ(plan->forward.problem.hosts[0].name, "device 0");
  EXPECT_EQ(plan->backward.problem.hosts[0].name, "device 1");
}

TEST_F(BoundaryTest, BetweenHostsRowsAre) {
  const std::vector<int64_t> left = {0, 1}, right = {2, 3};
  const auto plan = Plan(Side(1, 0, 2, left), Side(1, 2, 4, right));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_FALSE(plan->within_host);
  // Two tiles through one port.
  EXPECT_EQ(plan->forward.problem.tasks.size(), 2u);
  EXPECT_DOUBLE_EQ(plan->forward.answer->makespan_seconds, kActivation / 1e6);
  EXPECT_EQ(plan->forward.problem.hosts[1].name, "host 1");
}

// Two devices that each hold half send side by side; a tensor that one device
// needs whole comes through its one port.
TEST_F(BoundaryTest, PortsWorkSideBySide) {
  const Cluster row{1, 4};
  BoundaryPlanner planner(row, {0, 1e6}, cuts_);
  const std::vector<int64_t> two = {0, 1}, others = {2, 3}, one = {2};
  const auto spread = planner.Plan(Side(1, 0, 2, two), Side(1, 2, 4, others));
  ASSERT_TRUE(spread.ok()) << spread.status();
  EXPECT_DOUBLE_EQ(spread->forward.answer->makespan_seconds,
                   kActivation / 2 / 1e6);
  const auto gathered = planner.Plan(Side(1, 0, 2, two), Side(0, 2, 4, one));
  ASSERT_TRUE(gathered.ok()) << gathered.status();
  EXPECT_DOUBLE_EQ(gathered->forward.answer->makespan_seconds,
                   kActivation / 1e6);
}

TEST_F(BoundaryTest, TheBoundIsBytesOverTheFasterPort) {
  const pipeline::Transfer bound =
      BoundaryPlanner(cluster_, {1e6, 1e8}, cuts_).Bound(steps_[0].analysis, 1);
  EXPECT_EQ(bound.forward.count(), kActivation * 10'000);
  EXPECT_EQ(bound.backward.count(), kActivation * 10'000);
}

}  // namespace
}  // namespace meshwright::stages
