#include "coordinator/plans/leadership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/cord.h"
#include "profiledb/store/memory_plan_store.h"

namespace meshwright::plans {
namespace {

using testing::HasSubstr;

// Its answers take as long as the test says.
class SlowPlans : public store::MemoryPlanStore {
 public:
  explicit SlowPlans(base::FakeClock* clock)
      : MemoryPlanStore(clock), clock_(clock) {}

  absl::StatusOr<store::Leader> Lead(const std::string& holder,
                                     store::Epoch mine,
                                     absl::Duration term) override {
    auto leader = MemoryPlanStore::Lead(holder, mine, term);
    clock_->Advance(takes);
    return leader;
  }

  absl::Duration takes;

 private:
  base::FakeClock* const clock_;
};

// Two coordinators over one store; time is moved by hand.
class LeadershipTest : public testing::Test {
 protected:
  Leadership Make(const std::string& address) {
    return Leadership(
        &plans_, address,
        {.term = absl::Seconds(6), .now = [this] {
           return std::chrono::steady_clock::time_point() +
                  absl::ToChronoNanoseconds(clock_.Now() - absl::UnixEpoch());
         }});
  }

  base::FakeClock clock_;
  SlowPlans plans_{&clock_};
  Leadership a_ = Make("a:1");
  Leadership b_ = Make("b:1");
};

TEST_F(LeadershipTest, TheFirstLeadsAndTheOtherNamesIt) {
  EXPECT_FALSE(a_.Leads());
  EXPECT_THAT(std::string(a_.CheckLeads("measures").message()),
              HasSubstr("have no leader"));
  ASSERT_TRUE(a_.Renew().ok());
  ASSERT_TRUE(b_.Renew().ok());
  EXPECT_TRUE(a_.Leads());
  EXPECT_TRUE(a_.CheckLeads("measures").ok());
  EXPECT_FALSE(b_.Leads());
  EXPECT_EQ(b_.leader(), "a:1");
  const absl::Status status = b_.CheckLeads("measures");
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("ask it at a:1"));
  std::string named;  // for clients
  status.ForEachPayload([&](absl::string_view, const absl::Cord& content) {
    named = std::string(content);
  });
  EXPECT_EQ(named, "a:1");
}

TEST_F(LeadershipTest, ALeaderThatRenewsStaysAndKeepsItsEpoch) {
  ASSERT_TRUE(a_.Renew().ok());
  const store::Epoch epoch = a_.epoch();
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(absl::Seconds(1));
    ASSERT_TRUE(a_.Renew().ok());
    ASSERT_TRUE(b_.Renew().ok());
    EXPECT_TRUE(a_.Leads());
    EXPECT_FALSE(b_.Leads());
  }
  EXPECT_EQ(a_.epoch(), epoch);
}

TEST_F(LeadershipTest, OneThatSleepsIsReplacedAndNeverLeadsBeside) {
  ASSERT_TRUE(a_.Renew().ok());
  const store::Epoch first = a_.epoch();
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(b_.Renew().ok());
    EXPECT_NE(a_.Leads(), b_.Leads());
    clock_.Advance(absl::Seconds(1));
  }
  // Its term is over before anyone takes the row.
  EXPECT_FALSE(a_.Leads());
  EXPECT_EQ(a_.leader(), "");
  ASSERT_TRUE(b_.Renew().ok());
  EXPECT_TRUE(b_.Leads());
  EXPECT_LT(first, b_.epoch());
  v1::PlanRecord record;
  ASSERT_TRUE(plans_.Add(record).ok());
  v1::PlanUpdate update;
  update.set_state(v1::DONE);
  EXPECT_TRUE(
      absl::IsAborted(plans_.Append(first, store::PlanId{1}, update).status()));
  ASSERT_TRUE(a_.Renew().ok());
  EXPECT_FALSE(a_.Leads());
  EXPECT_EQ(a_.leader(), "b:1");
}

TEST_F(LeadershipTest, OneThatStepsDownIsReplacedAtOnce) {
  ASSERT_TRUE(a_.Renew().ok());
  a_.StepDown();
  EXPECT_FALSE(a_.Leads());
  ASSERT_TRUE(b_.Renew().ok());
  EXPECT_TRUE(b_.Leads());
  a_.StepDown();  // not its own any more
  ASSERT_TRUE(b_.Renew().ok());
  EXPECT_TRUE(b_.Leads());
}

// Its workers come back with leases of the epoch before.
TEST_F(LeadershipTest, ALeaderThatLostItsTermLeadsInALaterEpoch) {
  ASSERT_TRUE(a_.Renew().ok());
  const store::Epoch first = a_.epoch();
  clock_.Advance(absl::Seconds(6));
  EXPECT_FALSE(a_.Leads());
  ASSERT_TRUE(a_.Renew().ok());
  EXPECT_TRUE(a_.Leads());
  EXPECT_LT(first, a_.epoch());
}

// Before that the queue is in the epoch before, or in none.
TEST_F(LeadershipTest, WorkersAttachWhenTheEpochHasBegun) {
  EXPECT_THAT(std::string(a_.CheckTakesWorkers().message()),
              HasSubstr("have no leader"));
  ASSERT_TRUE(a_.Renew().ok());
  EXPECT_THAT(std::string(a_.CheckTakesWorkers().message()),
              HasSubstr("in a moment"));
  EXPECT_FALSE(a_.AwaitLeads(absl::ZeroDuration()));
  a_.NoteBegun(a_.epoch());
  EXPECT_TRUE(a_.CheckTakesWorkers().ok());
  EXPECT_TRUE(a_.AwaitLeads(absl::ZeroDuration()));
  clock_.Advance(absl::Seconds(6));
  ASSERT_TRUE(a_.Renew().ok());
  EXPECT_TRUE(a_.Leads());
  EXPECT_TRUE(absl::IsUnavailable(a_.CheckTakesWorkers()));
  a_.NoteBegun(a_.epoch());
  EXPECT_TRUE(a_.CheckTakesWorkers().ok());
}

TEST_F(LeadershipTest, ATermThatIsProlongedTooLateIsOver) {
  ASSERT_TRUE(a_.Renew().ok());
  const store::Epoch first = a_.epoch();
  clock_.Advance(absl::Seconds(5));
  plans_.takes = absl::Seconds(2);
  ASSERT_TRUE(a_.Renew().ok());  // the row lasts until the 11th second
  plans_.takes = absl::ZeroDuration();
  EXPECT_FALSE(a_.Leads());
  ASSERT_TRUE(a_.Renew().ok());
  EXPECT_FALSE(a_.Leads());
  clock_.Advance(absl::Seconds(4));
  ASSERT_TRUE(a_.Renew().ok());
  EXPECT_TRUE(a_.Leads());
  EXPECT_LT(first, a_.epoch());
}

// Else a coordinator of the same address would write with the epoch of the one
// that was killed.
TEST_F(LeadershipTest, AProcessThatIsStartedAgainWaitsForAnEpochOfItsOwn) {
  ASSERT_TRUE(a_.Renew().ok());
  Leadership again = Make("a:1");
  ASSERT_TRUE(again.Renew().ok());
  EXPECT_FALSE(again.Leads());
  clock_.Advance(absl::Seconds(6));
  ASSERT_TRUE(again.Renew().ok());
  EXPECT_TRUE(again.Leads());
  EXPECT_LT(a_.epoch(), again.epoch());
}

}  // namespace
}  // namespace meshwright::plans
