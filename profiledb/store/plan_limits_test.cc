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

// Plans that have ended keep their modules; plans of one model share it.
TEST(PlanLimitsTest, BytesThatAreStored) {
  std::vector<v1::PlanRecord> plans(3, MakeRecord(10));
  plans[0].set_module_sha256("a");
  plans[1].set_module_sha256("b");
  plans[2].set_module_sha256("b");
  plans[2].set_state(v1::DONE);
  v1::PlanRecord record = MakeRecord(10);
  record.set_module_sha256("c");
  EXPECT_TRUE(CheckLimits({.stored_bytes = 30}, record, plans).ok());
  EXPECT_TRUE(CheckLimits({.module_bytes = 30}, record, plans).ok());
  const absl::Status status = CheckLimits({.stored_bytes = 29}, record, plans);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("may have 29 bytes and would have 30"),
                    HasSubstr("--max-plan-days"), HasSubstr("administrator")));
  record.set_module_sha256("b");  // it is there already
  EXPECT_TRUE(CheckLimits({.stored_bytes = 20}, record, plans).ok());
  // What was asked is kept, too.
  record.mutable_request()->set_model_name("a long name");
  const int64_t asked = CountRequestBytes(record);
  EXPECT_GT(asked, 11);
  EXPECT_FALSE(
      CheckLimits({.stored_bytes = 20 + asked - 1}, record, plans).ok());
  EXPECT_TRUE(CheckLimits({.stored_bytes = 20 + asked}, record, plans).ok());
  plans.push_back(record);
  EXPECT_FALSE(
      CheckLimits({.stored_bytes = 20 + 2 * asked - 1}, record, plans).ok());
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
