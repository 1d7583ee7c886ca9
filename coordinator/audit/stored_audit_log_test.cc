#include "coordinator/audit/stored_audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coordinator/security/testing/fake_audit_log.h"
#include "profiledb/store/away.h"
#include "profiledb/store/memory_plan_store.h"

namespace meshwright::audit {
namespace {

using security::AuditEntry;
using testing::IsEmpty;
using testing::SizeIs;

// Takes no row until the test says so.
class ClosedRows : public store::MemoryPlanStore {
 public:
  absl::Status RecordAudit(absl::Span<const store::AuditRow> rows) override {
    base::MutexLock lock(&mutex_);
    ++tries_;
    if (failure_.ok()) return MemoryPlanStore::RecordAudit(rows);
    return failure_;
  }
  void Fail(const absl::Status& failure) {
    base::MutexLock lock(&mutex_);
    failure_ = failure;
  }
  void AwaitTries(int tries) {
    base::MutexLock lock(&mutex_);
    const auto came = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return tries_ >= tries;
    };
    mutex_.Await(absl::Condition(&came));
  }

 private:
  base::Mutex mutex_;
  int tries_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
};

class StoredAuditLogTest : public testing::Test {
 protected:
  std::unique_ptr<StoredAuditLog> Open() {
    options_.plans = &plans_;
    options_.other = &other_;
    options_.coordinator = "a:1";
    options_.clock = &clock_;
    return std::make_unique<StoredAuditLog>(options_);
  }
  AuditEntry Admitted(const std::string& object) {
    return {.when = clock_.Now(),
            .who = "token:1a",
            .peer = "here",
            .what = "/meshwright.v1.Plans/Cancel",
            .outcome = security::kAdmitted,
            .object = object};
  }
  AuditEntry Refused(int number) {
    return {.when = clock_.Now(),
            .what = "/meshwright.v1.Plans/List",
            .outcome = "UNAUTHENTICATED",
            .reason = std::string(number + 1, 'x')};
  }
  std::vector<store::AuditRow> Rows() { return *plans_.ReadAudit(0, 100); }

  base::FakeClock clock_;
  ClosedRows plans_;
  security::FakeAuditLog other_;
  StoredAuditLog::Options options_;
};

TEST_F(StoredAuditLogTest, AnEntryIsInTheOtherLogAndARow) {
  auto log = Open();
  log->Record(Admitted("plan-7"));
  AuditEntry stored = Admitted("plan-8");
  stored.is_stored = true;
  log->Record(stored);
  log.reset();
  EXPECT_THAT(other_.entries(), SizeIs(2));
  ASSERT_THAT(Rows(), SizeIs(1));
  const store::AuditRow row = Rows()[0];
  EXPECT_EQ(row.when, clock_.Now());
  EXPECT_EQ(row.coordinator, "a:1");
  EXPECT_EQ(row.who, "token:1a");
  EXPECT_EQ(row.peer, "here");
  EXPECT_EQ(row.what, "/meshwright.v1.Plans/Cancel");
  EXPECT_EQ(row.object, "plan-7");
  EXPECT_EQ(row.outcome, "admitted");
}

TEST_F(StoredAuditLogTest, RefusalsHaveSoManyRowsASecond) {
  options_.refusals_per_second = 2;
  auto log = Open();
  for (int i = 0; i < 10; ++i) log->Record(Refused(i));
  log->Record(Admitted("plan-7"));
  clock_.Advance(absl::Seconds(1));
  log->Record(Refused(0));
  log.reset();
  EXPECT_THAT(other_.entries(), SizeIs(12));
  ASSERT_THAT(Rows(), SizeIs(4));
  EXPECT_EQ(Rows()[2].object, "plan-7");
  EXPECT_EQ(Rows()[2].left_out, 0);
  EXPECT_EQ(Rows()[3].left_out, 8);
}

TEST_F(StoredAuditLogTest, RowsWaitForAStoreThatIsAway) {
  options_.pause = absl::ZeroDuration();
  plans_.Fail(store::MarkAway(absl::UnavailableError("the server is lost")));
  auto log = Open();
  log->Record(Admitted("plan-7"));
  plans_.AwaitTries(1);
  EXPECT_THAT(Rows(), IsEmpty());
  plans_.Fail(absl::OkStatus());
  while (Rows().empty()) plans_.AwaitTries(2);
  EXPECT_EQ(Rows()[0].object, "plan-7");
}

TEST_F(StoredAuditLogTest, SoManyRowsWaitAndItsEndWaitsForNoStore) {
  options_.waiting = 3;
  plans_.Fail(store::MarkAway(absl::UnavailableError("the server is lost")));
  auto log = Open();
  log->Record(Admitted("plan-1"));
  plans_.AwaitTries(1);
  for (int i = 2; i < 9; ++i) log->Record(Admitted("plan-2"));
  log.reset();
  EXPECT_THAT(other_.entries(), SizeIs(8));
  EXPECT_THAT(Rows(), IsEmpty());
}

TEST_F(StoredAuditLogTest, OldRowsAreRemoved) {
  Open()->Record(Admitted("plan-7"));
  EXPECT_THAT(Rows(), SizeIs(1));
  clock_.Advance(kKept + absl::Seconds(1));
  Open()->Record(Admitted("plan-8"));
  ASSERT_THAT(Rows(), SizeIs(1));
  EXPECT_EQ(Rows()[0].object, "plan-8");
}

}  // namespace
}  // namespace meshwright::audit
