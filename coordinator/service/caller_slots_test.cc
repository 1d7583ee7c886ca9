#include "coordinator/service/caller_slots.h"

#include <gtest/gtest.h>

#include <memory>

#include "absl/status/status.h"
#include "base/clock.h"
#include "coordinator/security/testing/fake_audit_log.h"

namespace meshwright::service {
namespace {

// Whoever sees that calls are refused asks whose they are.
TEST(CallerSlotsTest, TheAuditLogNamesWhoHasNoPlaceLeft) {
  base::FakeClock clock;
  security::FakeAuditLog audit;
  const auto guard = *security::Guard::Open({&clock, "", &audit});
  ServiceContext context;
  context.guard = guard.get();
  CallSlots slots(3, "streams and no more", 2);
  const security::Call call = {"/meshwright.v1.Plans/Watch", "", "ann",
                               "ipv4:1.2.3.4:5"};
  const auto held = TakeSlot(context, call, &slots, 2);
  ASSERT_TRUE(held.ok()) << held.status();
  EXPECT_TRUE(audit.entries().empty());
  EXPECT_TRUE(
      absl::IsResourceExhausted(TakeSlot(context, call, &slots).status()));
  ASSERT_EQ(audit.entries().size(), 1u);
  const security::AuditEntry entry = audit.entries()[0];
  EXPECT_EQ(entry.who, "certificate:ann");
  EXPECT_EQ(entry.what, call.path);
  EXPECT_EQ(entry.outcome, "RESOURCE_EXHAUSTED");
  EXPECT_EQ(entry.reason, "certificate:ann holds 2 streams and no more");
}

}  // namespace
}  // namespace meshwright::service
