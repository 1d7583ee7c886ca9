#include "coordinator/stages/pass_time_split.h"

#include <gtest/gtest.h>

#include <set>

#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/stages/measured_meshes.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::stages {
namespace {

using problem::Picoseconds;

const auto kQuiet = [](const v1::PlanProgress&) {};

// One mesh, measured by `measurer`.
std::unique_ptr<MeasuredMeshes> Measured(const v1::PlanRequest& request,
                                         store::FakeProfileStore& store,
                                         jobs::FakeMeasurer& measurer) {
  auto step = MeasureMeshes(request, {&store, &measurer}, kQuiet);
  EXPECT_TRUE(step.ok()) << step.status();
  return *std::move(step);
}

v1::PlanRequest Request(const std::string& model, int micro_batches) {
  v1::PlanRequest request;
  request.set_hlo_module(segmenter::ReadSample(model));
  request.mutable_mesh()->add_shape(1);
  request.mutable_mesh()->add_shape(1);
  request.mutable_stages()->set_micro_batches(micro_batches);
  return request;
}

// The first configuration of every type, split while the machine takes
// `slowness` times what it took when the segments were measured.
std::vector<PassTimes> SplitsAt(double slowness,
                                const v1::PlanRequest& request) {
  store::FakeProfileStore store;
  jobs::FakeMeasurer measurer;
  measurer.machine = 5;
  const auto step = Measured(request, store, measurer);
  const MeasuredMesh& mesh = *step->meshes[0];
  std::set<PassTimeSplit::Choice> choices;
  for (segmenter::SegmentTypeId type; type < mesh.step.space.types.size();
       ++type) {
    choices.insert({type, 0});
  }
  measurer.slowness = slowness;
  v1::PlanPrograms counts;
  const auto any = mesh.splits->Measure(
      choices, planning::MakeDeviceSpec(request, mesh.step.space.context.mesh),
      {&store, &measurer}, kQuiet, true, counts);
  EXPECT_TRUE(any.ok() && *any) << any.status();
  std::vector<PassTimes> splits;
  for (const PassTimeSplit::Choice& choice : choices) {
    splits.push_back(mesh.splits->Estimate(choice));
    EXPECT_FALSE(splits.back().estimated);
  }
  return splits;
}

// A machine that slows down between the two moments is no longer forward pass,
// and no shorter update.
TEST(SplitsTest, AreThoseOfOneMoment) {
  for (const auto& request :
       {Request("gpt2_tiny", 4), Request("accumulate_tiny", 0)}) {
    const std::vector<PassTimes> steady = SplitsAt(1, request);
    for (const double slowness : {0.6, 1.5}) {
      const std::vector<PassTimes> drifted = SplitsAt(slowness, request);
      ASSERT_EQ(drifted.size(), steady.size());
      Picoseconds updates{0};
      for (size_t i = 0; i < steady.size(); ++i) {
        const auto near = [](Picoseconds a, Picoseconds b) {
          EXPECT_NEAR(static_cast<double>(a.count()),
                      static_cast<double>(b.count()),
                      0.001 * static_cast<double>(b.count()) + 10'000);
        };
        near(drifted[i].forward, steady[i].forward);
        near(drifted[i].backward_input, steady[i].backward_input);
        near(drifted[i].backward_weight, steady[i].backward_weight);
        near(drifted[i].backward, steady[i].backward);
        near(drifted[i].update, steady[i].update);
        updates += steady[i].update;
      }
      EXPECT_GT(updates, Picoseconds(0));
    }
  }
}

}  // namespace
}  // namespace meshwright::stages
