#include "profiledb/upkeep/old_plans.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <utility>

#include "base/fingerprint.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::store {
namespace {

constexpr auto kDay = std::chrono::days(1);

// Calls a function once, when plans are removed.
class WatchedPlans : public MemoryPlanStore {
 public:
  absl::StatusOr<int64_t> Remove(absl::Span<const PlanId> ids) override {
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    return MemoryPlanStore::Remove(ids);
  }
  std::function<void()> meanwhile;
};

class OldPlansTest : public testing::Test {
 protected:
  OldPlansTest() { epoch_ = *plans_.BeginEpoch("here"); }

  // Ended so many days ago; nothing: it runs.
  PlanId Submit(const std::string& model, std::optional<int> ended_days_ago) {
    v1::PlanRecord record;
    record.set_module_sha256(base::Sha256Hex(model));
    EXPECT_TRUE(profiles_.RecordProgram(record.module_sha256(), model).ok());
    const PlanId id = *ParsePlanId(plans_.Add(record)->id());
    if (ended_days_ago.has_value()) {
      v1::PlanUpdate done;
      done.set_state(v1::FAILED);
      done.set_unix_ns(
          (now_ - *ended_days_ago * kDay).time_since_epoch().count());
      EXPECT_TRUE(plans_.Append(epoch_, id, done).ok());
    }
    return id;
  }
  v1::GcReport Remove(bool dry_run = false) {
    v1::GcReport report;
    const absl::Status status =
        RemoveOldPlans(plans_, profiles_,
                       {.maximum_days = 30, .dry_run = dry_run}, now_, report);
    EXPECT_TRUE(status.ok()) << status;
    return report;
  }
  bool Has(const std::string& model) {
    return profiles_.FindProgramBytes(base::Sha256Hex(model))->has_value();
  }

  const Nanoseconds now_ = std::chrono::system_clock::now();
  WatchedPlans plans_;
  FakeProfileStore profiles_;
  Epoch epoch_;
};

TEST_F(OldPlansTest, APlanGoesWithTheModelThatNoOtherNames) {
  const PlanId old = Submit("old", 31);
  const PlanId of_shared = Submit("shared", 400);
  const PlanId younger = Submit("shared", 29);
  const PlanId running = Submit("running", std::nullopt);
  const v1::GcReport report = Remove();
  EXPECT_EQ(report.plans(), 2);
  EXPECT_EQ(report.models(), 1);
  EXPECT_EQ(report.plans_left(), 2);
  EXPECT_TRUE(absl::IsNotFound(plans_.Get(old).status()));
  EXPECT_TRUE(absl::IsNotFound(plans_.Get(of_shared).status()));
  EXPECT_TRUE(plans_.Get(younger).ok());
  EXPECT_TRUE(plans_.Get(running).ok());
  EXPECT_FALSE(Has("old"));
  EXPECT_TRUE(Has("shared"));
  EXPECT_TRUE(Has("running"));
  EXPECT_EQ(Remove().plans(), 0);
}

TEST_F(OldPlansTest, ADryRunOnlySays) {
  const PlanId old = Submit("old", 31);
  const v1::GcReport report = Remove(/*dry_run=*/true);
  EXPECT_EQ(report.plans(), 1);
  EXPECT_EQ(report.models(), 1);
  EXPECT_TRUE(plans_.Get(old).ok());
  EXPECT_TRUE(Has("old"));
}

// A submission asks for the module before the store has its plan.
TEST_F(OldPlansTest, AModelThatIsFoundMeanwhileStays) {
  const int64_t today =
      std::chrono::floor<std::chrono::days>(now_).time_since_epoch().count();
  for (const int64_t day : {int64_t{20000}, today}) {
    v1::PlanRecord record;
    record.set_module_sha256(base::Sha256Hex("old"));
    const Program program{
        .key = record.module_sha256(), .hlo = "old", .last_used_day = day};
    ASSERT_TRUE(profiles_.RecordPrograms({&program, 1}).ok());
    const PlanId id = *ParsePlanId(plans_.Add(record)->id());
    v1::PlanUpdate done;
    done.set_state(v1::FAILED);
    done.set_unix_ns((now_ - 31 * kDay).time_since_epoch().count());
    ASSERT_TRUE(plans_.Append(epoch_, id, done).ok());
    plans_.meanwhile = [&] { EXPECT_TRUE(Has("old")); };
    const v1::GcReport report = Remove();
    EXPECT_EQ(report.plans(), 1);
    EXPECT_EQ(report.models(), 0);
    EXPECT_TRUE(Has("old"));
  }
}

TEST_F(OldPlansTest, AModelThatARowNamesStays) {
  Submit("old", 31);
  v1::ProfileResult row;
  row.set_key(base::Sha256Hex("old"));
  row.set_outcome(v1::COMPILE_FAILED);
  ASSERT_TRUE(profiles_.Record(row, {}).ok());
  const v1::GcReport report = Remove();
  EXPECT_EQ(report.plans(), 1);
  EXPECT_EQ(report.models(), 0);
  EXPECT_TRUE(Has("old"));
}

}  // namespace
}  // namespace meshwright::store
