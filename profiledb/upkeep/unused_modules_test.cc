#include "profiledb/upkeep/unused_modules.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

class UnusedModulesTest : public testing::Test {
 protected:
  void Put(const std::string& name, int used_days_ago) {
    const Program module = {.key = MakeKey(name),
                            .hlo = "module",
                            .last_used_day = today_ - used_days_ago};
    ASSERT_TRUE(profiles_.RecordPrograms({&module, 1}).ok());
  }
  v1::GcReport Remove(bool dry_run = false) {
    v1::GcReport report;
    const absl::Status status = RemoveUnusedModules(
        plans_, profiles_, {.maximum_days = 30, .dry_run = dry_run}, now_,
        report);
    EXPECT_TRUE(status.ok()) << status;
    return report;
  }
  bool Has(const std::string& name) {
    return profiles_.FindProgramBytes(MakeKey(name))->has_value();
  }

  const Nanoseconds now_ = std::chrono::system_clock::now();
  const int64_t today_ =
      std::chrono::floor<std::chrono::days>(now_).time_since_epoch().count();
  MemoryPlanStore plans_;
  FakeProfileStore profiles_;
};

TEST_F(UnusedModulesTest, OneGoesThatNoPlanAndNoRowNames) {
  for (const char* const name : {"put alone", "planned", "row"}) Put(name, 31);
  Put("young", 30);
  v1::PlanRecord record;
  record.set_module_sha256(MakeKey("planned"));
  ASSERT_TRUE(plans_.Add(record).ok());
  ASSERT_TRUE(profiles_.Record(MakeMeasured("row"), {}).ok());
  const v1::GcReport report = Remove();
  EXPECT_EQ(report.modules(), 1);
  EXPECT_EQ(report.module_bytes(), 6);
  EXPECT_FALSE(Has("put alone"));
  for (const char* const name : {"planned", "row", "young"}) {
    EXPECT_TRUE(Has(name)) << name;
  }
  EXPECT_EQ(Remove().modules(), 0);
}

TEST_F(UnusedModulesTest, ADryRunOnlySays) {
  Put("old", 31);
  for (int i = 0; i < 2; ++i) {
    const v1::GcReport report = Remove(/*dry_run=*/true);
    EXPECT_EQ(report.modules(), 1);
    EXPECT_EQ(report.module_bytes(), 6);
  }
  EXPECT_TRUE(Has("old"));
}

}  // namespace
}  // namespace meshwright::store
