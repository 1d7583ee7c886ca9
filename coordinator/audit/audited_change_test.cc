#include "coordinator/audit/audited_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/clock.h"
#include "coordinator/audit/stored_audit_log.h"
#include "coordinator/security/testing/fake_audit_log.h"
#include "profiledb/store/memory_plan_store.h"

namespace meshwright::audit {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const security::Call kCancel = {.path = "/meshwright.v1.Plans/Cancel",
                                .peer = "here"};

class AuditedChangeTest : public testing::Test {
 protected:
  AuditedChangeTest() {
    v1::PlanRecord record;
    EXPECT_TRUE(plans_.Add(record).ok());
    epoch_ = *plans_.BeginEpoch("a:1");
    log_ = std::make_unique<StoredAuditLog>(
        StoredAuditLog::Options{.plans = &plans_,
                                .other = &other_,
                                .coordinator = "a:1",
                                .clock = &clock_});
    guard_ = *security::Guard::Open({&clock_, "", log_.get()});
  }

  absl::Status Cancel() {
    v1::PlanUpdate update;
    update.set_state(v1::CANCELLED);
    return plans_.Append(epoch_, store::PlanId{1}, update).status();
  }
  std::vector<store::AuditRow> Rows() { return *plans_.ReadAudit(0, 100); }

  base::FakeClock clock_;
  store::MemoryPlanStore plans_;
  store::Epoch epoch_;
  security::FakeAuditLog other_;
  std::unique_ptr<StoredAuditLog> log_;
  std::unique_ptr<security::Guard> guard_;
};

TEST_F(AuditedChangeTest, ItsRowIsThereWithTheChangeAndOnce) {
  AuditedChange change(*guard_, "a:1", kCancel, "token:1a");
  const absl::Status cancelled = Cancel();
  ASSERT_THAT(Rows(), SizeIs(1));  // before anyone records it
  EXPECT_EQ(Rows()[0].object, "plan-1");
  EXPECT_EQ(Rows()[0].who, "token:1a");
  EXPECT_EQ(Rows()[0].outcome, "admitted");
  change.Record(cancelled, "plan-1");
  log_.reset();  // it writes what waits
  EXPECT_THAT(Rows(), SizeIs(1));
  ASSERT_THAT(other_.entries(), SizeIs(1));
  EXPECT_EQ(other_.entries()[0].object, "plan-1");
}

TEST_F(AuditedChangeTest, OneThatFailsHasARowOfItsOwn) {
  ASSERT_TRUE(Cancel().ok());
  AuditedChange change(*guard_, "a:1", kCancel, "token:1a", "plan-1");
  const absl::Status again = Cancel();
  EXPECT_FALSE(again.ok());
  EXPECT_THAT(Rows(), IsEmpty());
  change.Record(again);
  log_.reset();
  ASSERT_THAT(Rows(), SizeIs(1));
  EXPECT_EQ(Rows()[0].object, "plan-1");
  EXPECT_EQ(Rows()[0].outcome, "FAILED_PRECONDITION");
}

TEST_F(AuditedChangeTest, ACoordinatorThatKeepsNoRowsHasEntriesAlone) {
  AuditedChange change(*guard_, "", kCancel, "token:1a");
  change.Record(Cancel(), "plan-1");
  EXPECT_THAT(other_.entries(), SizeIs(1));
  EXPECT_FALSE(other_.entries()[0].is_stored);
}

}  // namespace
}  // namespace meshwright::audit
