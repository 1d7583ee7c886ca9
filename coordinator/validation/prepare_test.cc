#include "coordinator/validation/prepare.h"

#include <gtest/gtest.h>

#include "coordinator/estimation/time_base.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/store/anchor_time.h"
#include "profiledb/store/summary.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::validation {
namespace {

const auto kQuiet = [](const v1::PlanProgress&) {};

class PrepareTest : public testing::Test {
 protected:
  PrepareTest() {
    measurer_.machine = 3;
    v1::PlanRequest request;
    request.set_hlo_module(segmenter::ReadSample("llama_2l"));
    for (int64_t size : {1, 2}) request.mutable_mesh()->add_shape(size);
    auto plan = planning::MakePlan(request, {&store_, &measurer_}, kQuiet);
    EXPECT_TRUE(plan.ok()) << plan.status();
    request_.plan = *std::move(plan);
    request_.hlo_module = request.hlo_module();
    request_.random_plans = 2;
    request_.device.set_platform("cpu");
  }

  Validation Prepare(store::ProfileStore& store) {
    auto validation = PrepareValidation(request_, &store, &measurer_, kQuiet);
    EXPECT_TRUE(validation.ok()) << validation.status();
    return *std::move(validation);
  }

  // Every row of the plan, found out to take so much of its time.
  void HealRows(double share) {
    std::vector<std::string> keys;
    for (const auto& it : request_.plan.program_times()) {
      keys.push_back(it.key());
    }
    auto rows = store_.Lookup(keys);
    ASSERT_TRUE(rows.ok()) << rows.status();
    ASSERT_FALSE(rows->empty());
    for (auto& [key, row] : *rows) {
      v1::Measurement& it = *row.mutable_measurement();
      store::ClearSummary(it);
      estimation::ScaleTimes(share, it);
      ASSERT_TRUE(store_.Record(row, {}).ok());
    }
  }

  store::FakeProfileStore store_;
  jobs::FakeMeasurer measurer_;
  ValidationRequest request_;
};

TEST_F(PrepareTest, TheChosenPlanIsPredictedByItsFile) {
  request_.plan.mutable_predicted()->set_step_seconds(12.5);
  request_.plan.mutable_predicted()->set_peak_bytes(77);
  const Validation validation = Prepare(store_);
  const ValidationPlan& chosen = validation.plans.front();
  EXPECT_EQ(chosen.name, "chosen");
  EXPECT_TRUE(chosen.predicted && chosen.planned);
  EXPECT_EQ(chosen.predicted_seconds, 12.5);
  EXPECT_EQ(chosen.predicted_peak_bytes, 77);
  ASSERT_FALSE(validation.baselines.empty());
  EXPECT_EQ(validation.plans[validation.baselines.front()].name, "dp");
}

TEST_F(PrepareTest, WhatTheFileHasTimesOfIsPlanned) {
  const Validation validation = Prepare(store_);
  for (const ValidationPlan& it : validation.plans) {
    if (it.name == "dp" || it.name == "tp") {
      EXPECT_TRUE(it.predicted && it.planned) << it.name;
    }
  }
}

// The rows of the plan were twice too slow, as its prediction is.
TEST_F(PrepareTest, RowsThatHealedSinceChangeNoPrediction) {
  const Validation before = Prepare(store_);
  HealRows(0.5);
  const Validation after = Prepare(store_);
  ASSERT_EQ(after.plans.size(), before.plans.size());
  for (size_t i = 0; i < after.plans.size(); ++i) {
    const ValidationPlan& it = after.plans[i];
    EXPECT_EQ(it.name, before.plans[i].name);
    EXPECT_EQ(it.key, before.plans[i].key) << it.name;
    EXPECT_EQ(it.planned, before.plans[i].planned) << it.name;
    EXPECT_EQ(it.predicted_seconds, before.plans[i].predicted_seconds)
        << it.name;
  }
  ASSERT_EQ(after.probes.size(), before.probes.size());
  for (size_t i = 0; i < after.probes.size(); ++i) {
    EXPECT_EQ(after.probes[i].profiled_ns, before.probes[i].profiled_ns);
  }
}

// Its own prediction is the sum of these times, as the drift takes them.
TEST_F(PrepareTest, TheFilesTimesAddUpToItsPrediction) {
  HealRows(0.5);
  request_.random_plans = 0;
  const Validation validation = Prepare(store_);
  double nanoseconds = 0;
  for (const Probe& probe : validation.probes) {
    nanoseconds += probe.runs_of[0] * probe.profiled_ns;
  }
  EXPECT_LE(nanoseconds * 1e-9, validation.plans[0].predicted_seconds * 1.001);
  EXPECT_GE(nanoseconds * 1e-9, validation.plans[0].predicted_seconds * 0.9);
}

TEST_F(PrepareTest, WholeStepsAreCompiledWithThePlansFlags) {
  const std::string flags = "--xla_cpu_enable_fast_math=true";
  request_.plan.set_xla_flags(flags);
  EXPECT_EQ(Prepare(store_).request.options().xla_flags(), flags);
}

TEST_F(PrepareTest, AnotherStoreChangesNoPrediction) {
  const Validation here = Prepare(store_);
  store::FakeProfileStore empty;
  measurer_.slowness = 3;
  const Validation there = Prepare(empty);
  for (size_t i = 0; i < there.plans.size(); ++i) {
    const ValidationPlan& it = there.plans[i];
    if (it.name != "dp" && it.name != "tp") continue;
    EXPECT_TRUE(it.planned) << it.name;
    EXPECT_EQ(it.predicted_seconds, here.plans[i].predicted_seconds) << it.name;
  }
}

TEST_F(PrepareTest, TheFileSaysNothingOfOtherDevices) {
  request_.random_plans = 0;
  const Validation here = Prepare(store_);
  ASSERT_TRUE(here.on_plans_devices);
  // As a plan of a machine that is ten times as slow.
  request_.plan.mutable_device_fingerprint()->set_processor("Slow CPU 1");
  v1::PlanPrediction& predicted = *request_.plan.mutable_predicted();
  predicted.set_step_seconds(10 * predicted.step_seconds());
  for (auto& it : *request_.plan.mutable_program_times()) {
    it.set_key(store::MakeKey(it.key()));
  }
  v1::AnchorTime& anchor = *request_.plan.add_anchors();
  anchor.set_name(store::kSpeedAnchor);
  anchor.set_minimum_ns(150'000);
  const Validation there = Prepare(store_);
  EXPECT_FALSE(there.on_plans_devices);
  const ValidationPlan& chosen = there.plans.front();
  EXPECT_TRUE(chosen.predicted);
  EXPECT_FALSE(chosen.planned);
  EXPECT_NEAR(chosen.predicted_seconds, here.plans.front().predicted_seconds,
              1e-9);
}

// Of an older file: the sums of other plans are no older than the validation.
TEST_F(PrepareTest, WithoutTimesInTheFileOtherPlansAreNotPlanned) {
  request_.plan.clear_program_times();
  for (const bool is_empty : {false, true}) {
    store::FakeProfileStore empty;
    const Validation validation = Prepare(is_empty ? empty : store_);
    EXPECT_TRUE(validation.plans.front().planned);
    for (size_t i = 1; i < validation.plans.size(); ++i) {
      EXPECT_TRUE(validation.plans[i].predicted) << validation.plans[i].name;
      EXPECT_FALSE(validation.plans[i].planned) << validation.plans[i].name;
    }
  }
}

}  // namespace
}  // namespace meshwright::validation
