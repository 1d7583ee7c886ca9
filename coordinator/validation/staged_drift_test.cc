#include "coordinator/validation/staged_drift.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coordinator/estimation/time_base.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/stages/staged_plan.h"
#include "profiledb/store/summary.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::validation {
namespace {

// A stage's drift is relative to the times that the plan was made of.
TEST(StagedDriftTest, RowsThatHealedSinceChangeNoProbe) {
  jobs::FakeMeasurer measurer;
  measurer.machine = 11;
  store::FakeProfileStore store;
  v1::PlanRequest request;
  request.set_hlo_module(segmenter::ReadSample("gpt2_2l"));
  for (const int64_t size : {2, 2}) request.mutable_mesh()->add_shape(size);
  request.mutable_stages()->set_micro_batches(4);
  request.mutable_stages()->set_host_bytes_per_second(1e12);
  const auto plan = stages::MakeStagedPlan(request, {&store, &measurer},
                                           [](const v1::PlanProgress&) {});
  ASSERT_TRUE(plan.ok()) << plan.status();

  const auto before = ChooseStageProbes(request.hlo_module(), *plan, &store);
  ASSERT_TRUE(before.ok()) << before.status();
  ASSERT_FALSE(before->empty());
  std::vector<std::string> keys;
  for (const auto& it : plan->program_times()) keys.push_back(it.key());
  auto rows = store.Lookup(keys);
  ASSERT_TRUE(rows.ok()) << rows.status();
  for (auto& [key, row] : *rows) {
    store::ClearSummary(*row.mutable_measurement());
    estimation::ScaleTimes(0.5, *row.mutable_measurement());
    ASSERT_TRUE(store.Record(row, {}).ok());
  }
  const auto after = ChooseStageProbes(request.hlo_module(), *plan, &store);
  ASSERT_TRUE(after.ok()) << after.status();
  ASSERT_EQ(after->size(), before->size());
  for (size_t i = 0; i < after->size(); ++i) {
    EXPECT_EQ((*after)[i].program.key(), (*before)[i].program.key());
    EXPECT_EQ((*after)[i].profiled_ns, (*before)[i].profiled_ns);
  }
}

}  // namespace
}  // namespace meshwright::validation
