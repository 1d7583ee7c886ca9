#include "profiledb/upkeep/clean_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "absl/status/status.h"
#include "base/fingerprint.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

using testing::HasSubstr;

class CleanStoreTest : public testing::Test {
 protected:
  // Rows that were recorded now and last used in 1970.
  CleanStoreTest() {
    for (const char* const name : {"a", "b"}) {
      Origin origin;
      origin.recorded = now_;
      const Entry entry{
          .result = MakeMeasured(name), .origin = origin, .last_used_day = 10};
      EXPECT_TRUE(profiles_.Record({&entry, 1}).ok());
    }
  }

  // A plan that failed in 1970, with its model.
  void AddOldPlan() {
    const Epoch epoch = *plans_.BeginEpoch("here");
    v1::PlanRecord record;
    record.set_module_sha256(base::Sha256Hex("model"));
    EXPECT_TRUE(profiles_.RecordProgram(record.module_sha256(), "model").ok());
    v1::PlanUpdate failed;
    failed.set_state(v1::FAILED);
    failed.set_unix_ns(1);
    EXPECT_TRUE(
        plans_.Append(epoch, *ParsePlanId(plans_.Add(record)->id()), failed)
            .ok());
  }

  v1::GcReport Clean(const v1::GcLimits& limits) {
    const auto report = CleanStore(profiles_, plans_, limits, now_);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(v1::GcReport());
  }

  const Nanoseconds now_ = std::chrono::system_clock::now();
  FakeProfileStore profiles_;
  MemoryPlanStore plans_;
};

TEST_F(CleanStoreTest, EachLimitIsItsOwn) {
  v1::GcLimits limits;
  limits.set_max_age_days(1);
  EXPECT_EQ(Clean(limits).rows(), 0);
  limits.add_keep(MakeKey("a"));
  limits.set_max_unused_days(30);
  const v1::GcReport report = Clean(limits);
  EXPECT_EQ(report.rows(), 1);
  EXPECT_EQ(report.rows_left(), 1);
  EXPECT_EQ(report.kept(), 1);
  v1::GcLimits bytes;
  bytes.set_max_bytes(0);
  EXPECT_EQ(Clean(bytes).rows_left(), 0);
}

// By the same limit as rows.
TEST_F(CleanStoreTest, ModulesThatNobodyAskedForGo) {
  const Program module = {
      .key = MakeKey("module"), .hlo = "hlo", .last_used_day = 10};
  ASSERT_TRUE(profiles_.RecordPrograms({&module, 1}).ok());
  v1::GcLimits limits;
  limits.set_max_age_days(1);
  EXPECT_EQ(Clean(limits).modules(), 0);
  limits.set_max_unused_days(30);
  limits.set_dry_run(true);
  EXPECT_EQ(Clean(limits).modules(), 1);
  limits.set_dry_run(false);
  const v1::GcReport report = Clean(limits);
  EXPECT_EQ(report.modules(), 1);
  EXPECT_EQ(report.module_bytes(), 3);
  EXPECT_EQ(Clean(limits).modules(), 0);
}

TEST_F(CleanStoreTest, ADryRunRemovesNothing) {
  AddOldPlan();
  v1::GcLimits limits;
  limits.set_max_unused_days(30);
  limits.set_max_plan_days(30);
  limits.set_dry_run(true);
  for (int i = 0; i < 2; ++i) {
    const v1::GcReport report = Clean(limits);
    EXPECT_EQ(report.rows(), 2);
    EXPECT_EQ(report.plans(), 1);
    EXPECT_EQ(report.models(), 1);
  }
  limits.set_dry_run(false);
  EXPECT_EQ(Clean(limits).plans(), 1);
  EXPECT_EQ(Clean(limits).rows(), 0);
}

TEST_F(CleanStoreTest, WhatIsYoungerThanALongTimeStays) {
  AddOldPlan();
  v1::GcLimits limits;
  for (const int64_t days :
       {int64_t{200'000}, std::numeric_limits<int64_t>::max()}) {
    limits.set_max_age_days(days);
    limits.set_max_unused_days(days);
    limits.set_max_plan_days(days);
    const v1::GcReport report = Clean(limits);
    EXPECT_EQ(report.plans(), 0) << days;
    EXPECT_EQ(report.rows(), 0) << days;
    EXPECT_EQ(report.modules(), 0) << days;
  }
}

TEST_F(CleanStoreTest, LimitsThatAreNoneAreRefused) {
  const auto refuse = [&](const v1::GcLimits& limits) {
    const absl::Status status =
        CleanStore(profiles_, plans_, limits, now_).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  EXPECT_THAT(refuse({}), HasSubstr("gc needs a limit"));
  v1::GcLimits negative;
  negative.set_max_plan_days(-1);
  EXPECT_THAT(refuse(negative), HasSubstr("negative"));
  v1::GcLimits no_key;
  no_key.set_max_bytes(0);
  no_key.add_keep("a");
  EXPECT_THAT(refuse(no_key), HasSubstr("64 lower-case hex digits"));
  EXPECT_EQ(profiles_.Count()->profiles[v1::MEASURED], 2);
}

}  // namespace
}  // namespace meshwright::store
