#include "coordinator/service/quota_report.h"

#include <gtest/gtest.h>

#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::service {
namespace {

TEST(QuotaReportTest, UsesAndQuotasStandBesideEachOther) {
  store::MemoryPlanStore plans;
  const store::Epoch epoch = *plans.BeginEpoch("here");
  const auto add = [&](const std::string& team, int64_t bytes,
                       const std::string& module = "m") {
    v1::PlanRecord record;
    record.set_module_sha256(module);
    record.set_namespace_(team);
    record.set_module_bytes(bytes);
    return *store::ParsePlanId(plans.Add(record)->id());
  };
  add("vision", 100);
  add("vision", 20, "another");
  v1::PlanUpdate ended;
  ended.set_state(v1::CANCELLED);
  for (const store::PlanId id : {add("vision", 20, "another"),
                                 add("vision", 3, "of one that has ended")}) {
    EXPECT_TRUE(plans.Append(epoch, id, ended).ok());
  }
  add("shared", 7);
  store::FakeProfileStore profiles;
  store::UnclaimedModules unclaimed(&plans, &profiles);
  ASSERT_TRUE(
      unclaimed
          .Put("vision", store::MakeKey("put"), "1234", {.stored_bytes = 1000})
          .ok());
  const auto report = ReportQuotas({{.name_space = "audio", .programs = 60},
                                    {.name_space = "vision",
                                     .plans = 5,
                                     .module_bytes = 1000,
                                     .stored_bytes = 2000}},
                                   plans, unclaimed);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->namespaces_size(), 3);
  const v1::NamespaceQuota& audio = report->namespaces(0);
  EXPECT_EQ(audio.namespace_(), "audio");
  EXPECT_EQ(audio.plans(), 0);
  EXPECT_EQ(audio.max_programs(), 60);
  EXPECT_FALSE(audio.has_max_plans());
  EXPECT_EQ(report->namespaces(1).namespace_(), "shared");
  EXPECT_EQ(report->namespaces(1).module_bytes(), 7);
  const v1::NamespaceQuota& vision = report->namespaces(2);
  EXPECT_EQ(vision.plans(), 2);
  EXPECT_EQ(vision.module_bytes(), 120);
  EXPECT_EQ(vision.max_plans(), 5);
  EXPECT_EQ(vision.max_module_bytes(), 1000);
  EXPECT_EQ(vision.stored_bytes(), 127);
  EXPECT_EQ(vision.max_stored_bytes(), 2000);
}

}  // namespace
}  // namespace meshwright::service
