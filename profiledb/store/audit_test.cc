#include "profiledb/store/audit.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace meshwright::store {
namespace {

AuditRow MakeAudit() {
  return {.when = absl::FromUnixNanos(7),
          .coordinator = "a:1",
          .who = "token:1a",
          .peer = "ipv4:1.2.3.4:5",
          .what = "/meshwright.v1.Plans/Cancel",
          .object = "plan-7",
          .outcome = "admitted"};
}

TEST(AuditTest, ADigestIsOfEveryColumnButTheNumber) {
  std::vector<AuditRow> rows(10, MakeAudit());
  rows[1].when += absl::Nanoseconds(1);
  rows[2].coordinator = "b:1";
  rows[3].who = "token:2b";
  rows[4].peer = "";
  rows[5].what = "";
  rows[6].object = "plan-8";
  rows[7].outcome = "NOT_FOUND";
  rows[8].reason = "it is not there";
  rows[9].left_out = 3;
  std::set<std::string> digests;
  for (const AuditRow& row : rows) digests.insert(DigestAudit(row));
  EXPECT_EQ(digests.size(), rows.size());
  AuditRow numbered = MakeAudit();
  numbered.number = 9;
  EXPECT_EQ(DigestAudit(numbered), DigestAudit(MakeAudit()));
}

TEST(AuditTest, TheInnermostScopeThatIsNotWrittenCounts) {
  EXPECT_EQ(AuditScope::FindOpen(), nullptr);
  AuditScope outer(MakeAudit());
  EXPECT_EQ(AuditScope::FindOpen(), &outer);
  {
    AuditScope inner(MakeAudit());
    EXPECT_EQ(AuditScope::FindOpen(), &inner);
    inner.NoteWritten();
    EXPECT_TRUE(inner.is_written());
    EXPECT_EQ(AuditScope::FindOpen(), nullptr);
  }
  EXPECT_FALSE(outer.is_written());
  EXPECT_EQ(AuditScope::FindOpen(), &outer);
  std::jthread([] { EXPECT_EQ(AuditScope::FindOpen(), nullptr); }).join();
}

TEST(AuditTest, AChangeNamesWhatTheCallDidNot) {
  AuditRow row = MakeAudit();
  EXPECT_EQ(AuditScope(row).MakeRow("plan-9").object, "plan-7");
  row.object.clear();
  row.peer = "\xff";
  EXPECT_EQ(AuditScope(row).MakeRow("plan-9").object, "plan-9");
  EXPECT_EQ(AuditScope(row).MakeRow("").peer, "\\xff");
}

}  // namespace
}  // namespace meshwright::store
