#include "coordinator/service/plan_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/service/server_limits.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/plan_updates.h"

namespace meshwright::service {
namespace {

using security::Caller;
using security::Role;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

v1::PlanRecord MakeRecord(const std::string& owner, const std::string& team) {
  v1::PlanRecord record;
  record.set_id("plan-7");
  record.set_owner(owner);
  record.set_namespace_(team);
  return record;
}

const Caller kAnyone;
const Caller kAnn = {"token:ann", "vision", {Role::kSubmit}};
const Caller kBob = {"certificate:bob", "", {Role::kSubmit}};
const Caller kAdmin = {"token:root", "", {Role::kAdmin}};

TEST(PlanAccessTest, ACallerWithATokenSubmitsAsItself) {
  v1::SubmitPlanRequest request;
  request.set_owner("token:bob");
  request.set_namespace_("language");
  const v1::SubmitPlanRequest named = SubmitAs(kAnn, "peer", request);
  EXPECT_EQ(named.owner(), "token:ann");
  EXPECT_EQ(named.namespace_(), "vision");
  EXPECT_EQ(SubmitAs(kBob, "peer", request).owner(), "certificate:bob");
  EXPECT_EQ(SubmitAs(kBob, "peer", request).namespace_(), "shared");
  EXPECT_EQ(SubmitAs(kAdmin, "peer", request).owner(), "token:bob");
  EXPECT_EQ(SubmitAs(kAnyone, "peer", request).owner(), "token:bob");
  EXPECT_EQ(SubmitAs(kAnyone, "peer", {}).owner(), "peer");
  EXPECT_EQ(SubmitAs(kAnyone, "unix:", {}).owner(), "local");
  EXPECT_EQ(SubmitAs(kAdmin, "peer", {}).owner(), "token:root");
}

TEST(PlanAccessTest, WhatIsMeasuredWithoutAPlanIsChargedToItsCaller) {
  EXPECT_EQ(OriginOf(kAnn, "peer").owner, "token:ann");
  EXPECT_EQ(OriginOf(kAnn, "peer").name_space, "vision");
  EXPECT_EQ(OriginOf(kBob, "peer").name_space, "shared");
  EXPECT_EQ(OriginOf(kAnyone, "peer").owner, "peer");
  EXPECT_EQ(OriginOf(kAnyone, "peer").name_space, "shared");
}

// Nobody has a plan of another measured before all others.
TEST(PlanAccessTest, WhatIsAskedAboutAPlanIsChargedToWhoAsks) {
  v1::PlanRecord plan = MakeRecord("token:bob", "shared");
  plan.set_priority(100);
  EXPECT_EQ(OriginOf(kAnn, "peer", plan).owner, "token:ann");
  EXPECT_EQ(OriginOf(kAnn, "peer", plan).name_space, "vision");
  EXPECT_EQ(OriginOf(kAnn, "peer", plan).priority, 0);
  EXPECT_EQ(OriginOf(kAnn, "peer", plan).plan, "plan-7");
  EXPECT_EQ(OriginOf(kAdmin, "peer", plan).owner, "token:bob");
  EXPECT_EQ(OriginOf(kAdmin, "peer", plan).priority, 100);
  plan.set_priority(-5);
  EXPECT_EQ(OriginOf(kAnn, "peer", plan).priority, -5);
}

// A plan that was cancelled is never done: waiting for it is no way out.
TEST(PlanAccessTest, APlanThatEndedWithoutOneIsSubmittedAgain) {
  store::MemoryPlanStore plans;
  const store::Epoch epoch = *plans.BeginEpoch("here");
  const std::string id = plans.Add(v1::PlanRecord())->id();
  const auto guard = *security::Guard::Open({});
  const auto ask = [&] {
    return std::string(FindDonePlan(*guard, plans, {}, id).status().message());
  };
  EXPECT_THAT(ask(), HasSubstr("watch it until it is"));
  v1::PlanUpdate update;
  update.set_state(v1::CANCELLED);
  update.set_reason("cancelled by ann");
  ASSERT_TRUE(plans.Append(epoch, *store::ParsePlanId(id), update).ok());
  EXPECT_EQ(ask(), id + " ended without a plan (cancelled by ann); submit it "
                        "again");
}

TEST(PlanAccessTest, NobodyPutsHimselfBeforeAnotherTeam) {
  v1::SubmitPlanRequest request;
  for (const int priority : {-5, 0, 5}) {
    request.set_priority(priority);
    EXPECT_EQ(SubmitAs(kAnn, "peer", request).priority(),
              std::min(priority, 0));
    EXPECT_EQ(SubmitAs(kAdmin, "peer", request).priority(), priority);
    EXPECT_EQ(SubmitAs(kAnyone, "peer", request).priority(), priority);
  }
}

TEST(PlanAccessTest, PlansOfOtherNamespacesAreNotThere) {
  const v1::PlanRecord vision = MakeRecord("token:ann", "vision");
  const v1::PlanRecord language = MakeRecord("token:eve", "language");
  const v1::PlanRecord shared = MakeRecord("token:eve", "shared");
  for (const Caller& caller : {kAnn, kAdmin, kAnyone}) {
    EXPECT_TRUE(CheckMaySee(caller, vision).ok());
    EXPECT_TRUE(CheckMaySee(caller, shared).ok());
  }
  EXPECT_TRUE(absl::IsNotFound(CheckMaySee(kAnn, language)));
  EXPECT_TRUE(absl::IsNotFound(CheckMaySee(kBob, vision)));
  EXPECT_TRUE(absl::IsNotFound(CheckMayEnd(kBob, vision)));
}

TEST(PlanAccessTest, AListHasTheNamespacesThatItsCallerMaySee) {
  EXPECT_THAT(*SelectNamespaces(kAnn, ""), ElementsAre("vision", "shared"));
  EXPECT_THAT(*SelectNamespaces(kAnn, "shared"), ElementsAre("shared"));
  EXPECT_EQ(SelectNamespaces(kAnn, "language"), std::nullopt);
  EXPECT_THAT(*SelectNamespaces(kBob, ""), ElementsAre("shared"));
  for (const Caller& caller : {kAdmin, kAnyone}) {
    EXPECT_THAT(*SelectNamespaces(caller, ""), IsEmpty());
    EXPECT_THAT(*SelectNamespaces(caller, "language"), ElementsAre("language"));
  }
}

TEST(PlanAccessTest, RowsAreReadInTheOwnNamespaceOrTheSharedOne) {
  EXPECT_EQ(*FindReadNamespace(kAnn, ""), "vision");
  EXPECT_EQ(*FindReadNamespace(kAnn, "shared"), "shared");
  EXPECT_EQ(*FindReadNamespace(kBob, ""), "shared");
  EXPECT_EQ(*FindReadNamespace(kAdmin, "language"), "language");
  const absl::Status status = FindReadNamespace(kAnn, "language").status();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
}

// Whatever the requests of plans are.
TEST(PlanAccessTest, APageIsNoLargerThanAMessage) {
  store::MemoryPlanStore plans;
  v1::PlanRecord record;
  record.mutable_request()->set_model_name(std::string(3 << 20, 'm'));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(plans.Add(record).ok());
  record.mutable_request()->set_model_name(std::string(12 << 20, 'm'));
  ASSERT_TRUE(plans.Add(record).ok());
  std::vector<std::string> ids;
  v1::ListPlansRequest request;
  int pages = 0;
  do {
    const auto page = ListPlans(plans, kAnyone, request);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_TRUE(CheckAnswerBytes(page->ByteSizeLong()).ok());
    for (const v1::PlanRecord& plan : page->plans()) ids.push_back(plan.id());
    request.set_page_token(page->next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_EQ(pages, 4);
  EXPECT_THAT(ids, ElementsAre("plan-6", "plan-5", "plan-4", "plan-3", "plan-2",
                               "plan-1"));
  const absl::Status large = CheckAnswerBytes(kMaximumAnswerBytes + 1);
  EXPECT_TRUE(absl::IsResourceExhausted(large)) << large;
  EXPECT_THAT(std::string(large.message()), HasSubstr("a smaller page"));
}

// Keeps what it was asked for last.
class AskedPlans : public store::MemoryPlanStore {
 public:
  absl::StatusOr<std::vector<v1::PlanRecord>> List(
      const store::PlanFilter& filter) override {
    asked = filter;
    return MemoryPlanStore::List(filter);
  }
  store::PlanFilter asked;
};

// A database keeps a query of each list of states for as long as it is open.
TEST(PlanAccessTest, StatesAreAskedForOnceAndInOneOrder) {
  AskedPlans plans;
  v1::ListPlansRequest request;
  for (const v1::PlanState state : {v1::DONE, v1::QUEUED, v1::DONE}) {
    request.add_states(state);
  }
  ASSERT_TRUE(ListPlans(plans, kAnyone, request).ok());
  EXPECT_THAT(plans.asked.states, ElementsAre(v1::QUEUED, v1::DONE));
  for (const int state : {-1, 0, v1::PlanState_MAX + 1}) {
    request.clear_states();
    request.add_states(static_cast<v1::PlanState>(state));
    const absl::Status refused = ListPlans(plans, kAnyone, request).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  }
}

TEST(PlanAccessTest, APlanIsEndedByItsOwnerOrAnAdministrator) {
  const v1::PlanRecord plan = MakeRecord("token:ann", "vision");
  for (const Caller& caller : {kAnn, kAdmin, kAnyone}) {
    EXPECT_TRUE(CheckMayEnd(caller, plan).ok());
  }
  const Caller colleague = {"token:joe", "vision", {Role::kSubmit}};
  const absl::Status status = CheckMayEnd(colleague, plan);
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("plan-7 is token:ann's"));
}

}  // namespace
}  // namespace meshwright::service
