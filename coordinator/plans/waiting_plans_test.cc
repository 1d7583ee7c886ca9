#include "coordinator/plans/waiting_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace meshwright::plans {
namespace {

using store::PlanId;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

const absl::Time kBegin = absl::UnixEpoch();

Needs NeedDevices(int count, const std::string& version = "") {
  Needs needs;
  needs.device.set_device_count(count);
  if (!version.empty()) {
    needs.exactly.emplace();
    needs.exactly->platform_version = version;
  }
  return needs;
}

// One answer for every need of so many devices.
std::map<std::string, absl::Status> AnswerAll(const WaitingPlans& plans,
                                              int devices,
                                              const absl::Status& status) {
  std::map<std::string, absl::Status> found;
  for (const auto& [name, needs] : plans.ListNeeds()) {
    if (needs.device.device_count() == devices) found[name] = status;
  }
  return found;
}

TEST(WaitingPlansTest, AThousandPlansWithThreeNeedsAreThreeQuestions) {
  WaitingPlans plans;
  for (int i = 0; i < 1000; ++i) {
    plans.Add(
        PlanId{1 + i},
        i % 2 == 0 ? NeedDevices(2) : NeedDevices(4, i % 4 == 1 ? "1" : "2"),
        kBegin);
  }
  EXPECT_THAT(plans.ListNeeds(), SizeIs(3));
  const auto news = plans.Take(AnswerAll(plans, 2, absl::OkStatus()), kBegin);
  EXPECT_THAT(news.ready, SizeIs(500));
  EXPECT_THAT(news.changed, IsEmpty());
  EXPECT_THAT(plans.ListNeeds(), SizeIs(2));
}

TEST(WaitingPlansTest, AReasonStandsForAWhile) {
  WaitingPlans plans;
  plans.Add(PlanId{1}, NeedDevices(2), kBegin);
  const auto found = AnswerAll(plans, 2, absl::UnavailableError("none"));
  // It is on its way to wait, with a reason of its own.
  EXPECT_THAT(plans.Take(found, kBegin).changed, IsEmpty());
  plans.Tell(PlanId{1}, "no worker", kBegin);
  EXPECT_THAT(plans.Take(found, kBegin).changed, IsEmpty());
  const absl::Time later = kBegin + WaitingPlans::kReasonStands;
  EXPECT_THAT(plans.Take(found, later).changed,
              ElementsAre(Pair(PlanId{1}, "none")));
  plans.Tell(PlanId{1}, "none", later);
  EXPECT_THAT(plans.Take(found, later + absl::Hours(1)).changed, IsEmpty());
}

TEST(WaitingPlansTest, APlanThatCameMeanwhileGoesOnWaiting) {
  WaitingPlans plans;
  plans.Add(PlanId{1}, NeedDevices(2), kBegin);
  const auto found = AnswerAll(plans, 2, absl::OkStatus());
  plans.Remove(PlanId{1});
  plans.Add(PlanId{2}, NeedDevices(4), kBegin);
  EXPECT_THAT(plans.Take(found, kBegin).ready, IsEmpty());
  EXPECT_EQ(plans.FindLongest(kBegin + absl::Hours(1)), absl::Hours(1));
  plans.Remove(PlanId{2});
  EXPECT_EQ(plans.FindLongest(kBegin + absl::Hours(1)), absl::ZeroDuration());
}

}  // namespace
}  // namespace meshwright::plans
