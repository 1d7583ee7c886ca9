#include "profiledb/store/plan_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace meshwright::store {
namespace {

using testing::AllOf;
using testing::HasSubstr;

v1::PlanRecord MakeRecord(int64_t module_bytes) {
  v1::PlanRecord record;
  record.set_id("plan-7");
  record.set_namespace_("vision");
  record.set_module_bytes(module_bytes);
  return record;
}

void ExpectRefused(const absl::Status& status, const char* limit) {
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("vision may have "), HasSubstr(limit),
                    HasSubstr("ask the coordinator's administrator")));
}

TEST(PlanLimitsTest, PlansAtOnce) {
  const std::vector<v1::PlanRecord> two(2, MakeRecord(10));
  EXPECT_TRUE(CheckLimits({}, MakeRecord(10), two).ok());
  EXPECT_TRUE(CheckLimits({.plans = 3}, MakeRecord(10), two).ok());
  ExpectRefused(CheckLimits({.plans = 2}, MakeRecord(10), two),
                "2 plans at once and has 2");
  ExpectRefused(CheckLimits({.plans = 0}, MakeRecord(10), {}), "0 plans");
}

TEST(PlanLimitsTest, BytesOfModules) {
  const std::vector<v1::PlanRecord> two(2, MakeRecord(10));
  EXPECT_TRUE(CheckLimits({.module_bytes = 30}, MakeRecord(10), two).ok());
  const absl::Status status =
      CheckLimits({.module_bytes = 29}, MakeRecord(10), two);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("29 bytes together and would have 30"),
                    HasSubstr("administrator")));
}

TEST(PlanLimitsTest, ProgramsOfOnePlan) {
  v1::PlanRecord record = MakeRecord(10);
  EXPECT_TRUE(CheckPrograms(record, 1000).ok());
  record.set_max_programs(100);
  EXPECT_TRUE(CheckPrograms(record, 100).ok());
  ExpectRefused(CheckPrograms(record, 101),
                "100 programs measured, and plan-7 needs at least 101");
}

}  // namespace
}  // namespace meshwright::store
