#include "profiledb/store/plan_pages.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/plan_updates.h"

namespace meshwright::store {
namespace {

TEST(PlanPagesTest, PageFollowsPageAndTheNewestComesFirst) {
  MemoryPlanStore plans;
  constexpr int kPlans = 2001;  // the last page has one
  for (int i = 0; i < kPlans; ++i) {
    ASSERT_TRUE(plans.Add(v1::PlanRecord()).ok());
  }
  std::vector<PlanId> seen;
  ASSERT_TRUE(ForEachPlan(plans, {}, [&](PlanId id, const v1::PlanRecord& it) {
                EXPECT_EQ(it.id(), FormatPlanId(id));
                seen.push_back(id);
                return absl::OkStatus();
              }).ok());
  ASSERT_EQ(seen.size(), kPlans);
  for (size_t i = 1; i < seen.size(); ++i) EXPECT_LT(seen[i], seen[i - 1]);
}

TEST(PlanPagesTest, AnErrorOfTheVisitEndsIt) {
  MemoryPlanStore plans;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(plans.Add(v1::PlanRecord()).ok());
  int visits = 0;
  EXPECT_EQ(ForEachPlan(plans, {},
                        [&](PlanId, const v1::PlanRecord&) {
                          ++visits;
                          return absl::AbortedError("enough");
                        }),
            absl::AbortedError("enough"));
  EXPECT_EQ(visits, 1);
}

TEST(PlanPagesTest, AStateIsUnfinishedOrHasEnded) {
  for (int number = v1::PlanState_MIN; number <= v1::PlanState_MAX; ++number) {
    const auto state = static_cast<v1::PlanState>(number);
    if (!v1::PlanState_IsValid(number) || state == v1::PLAN_STATE_UNSPECIFIED) {
      continue;
    }
    EXPECT_NE(std::ranges::count(ListUnfinishedStates(), state) > 0,
              HasEnded(state))
        << v1::PlanState_Name(state);
  }
}

}  // namespace
}  // namespace meshwright::store
