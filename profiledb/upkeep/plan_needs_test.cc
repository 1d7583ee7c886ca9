#include "profiledb/upkeep/plan_needs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

class PlanNeedsTest : public testing::Test {
 protected:
  PlanId Add(int day) {
    v1::PlanRecord record;
    record.set_submitted_unix_ns(
        std::chrono::nanoseconds(std::chrono::days(day)).count() + 1);
    return *ParsePlanId(plans_.Add(record)->id());
  }
  void End(PlanId id, v1::PlanState state,
           const std::vector<std::string>& keys) {
    v1::PlanUpdate update;
    update.set_state(state);
    update.set_row_keys(PackKeys(keys));
    ASSERT_TRUE(plans_.Append(epoch_, id, update).ok());
  }

  MemoryPlanStore plans_;
  const Epoch epoch_ = *plans_.BeginEpoch("a");
};

TEST_F(PlanNeedsTest, WithoutPlansNothingIsNeeded) {
  const auto needs = FindPlanNeeds(plans_);
  ASSERT_TRUE(needs.ok()) << needs.status();
  EXPECT_THAT(needs->keys, IsEmpty());
  EXPECT_FALSE(needs->used_since_day.has_value());
}

TEST_F(PlanNeedsTest, PlansThatAreDoneNeedTheRowsTheyState) {
  End(Add(10), v1::DONE, {MakeKey("a"), MakeKey("b")});
  End(Add(11), v1::DONE, {MakeKey("b"), MakeKey("c")});
  End(Add(5), v1::FAILED, {MakeKey("d")});
  End(Add(5), v1::CANCELLED, {});
  const auto needs = FindPlanNeeds(plans_);
  ASSERT_TRUE(needs.ok()) << needs.status();
  EXPECT_THAT(needs->keys,
              UnorderedElementsAre(MakeKey("a"), MakeKey("b"), MakeKey("c")));
  EXPECT_FALSE(needs->used_since_day.has_value());
}

TEST_F(PlanNeedsTest, OtherPlansNeedWhatWasUsedSinceTheirDay) {
  Add(12);
  End(Add(11), v1::DONE, {});
  EXPECT_EQ(FindPlanNeeds(plans_)->used_since_day, 11);
  Add(9);
  EXPECT_EQ(FindPlanNeeds(plans_)->used_since_day, 9);
}

TEST_F(PlanNeedsTest, EveryPageOfPlansIsRead) {
  const PlanId first = Add(10);
  for (int i = 0; i < 1000; ++i) End(Add(10), v1::FAILED, {});
  for (int i = 0; i < 1000; ++i) End(Add(20), v1::DONE, {MakeKey("a")});
  End(first, v1::DONE, {MakeKey("b")});
  const auto needs = FindPlanNeeds(plans_);
  ASSERT_TRUE(needs.ok()) << needs.status();
  EXPECT_THAT(needs->keys, UnorderedElementsAre(MakeKey("a"), MakeKey("b")));
}

}  // namespace
}  // namespace meshwright::store
