#include "tests/integration/plan_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::integration {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

v1::PlanUpdate Update(int64_t sequence, v1::PlanState state,
                      const std::string& reason = "") {
  v1::PlanUpdate update;
  update.set_sequence(sequence);
  update.set_state(state);
  update.set_reason(reason);
  return update;
}

v1::PlanRecord Record(int64_t sequence, v1::PlanState state) {
  v1::PlanRecord record;
  record.set_id("plan-7");
  record.set_sequence(sequence);
  record.set_state(state);
  return record;
}

class PlanHistoryTest : public testing::Test {
 protected:
  // Two updates were read of a plan that goes on.
  PlanHistoryTest() {
    EXPECT_THAT(history_.TakeRecord(Record(1, v1::QUEUED)), IsEmpty());
    history_.BeginStream(0);
    EXPECT_THAT(history_.TakeUpdate(Update(1, v1::QUEUED)), IsEmpty());
    EXPECT_THAT(history_.TakeUpdate(Update(2, v1::MEASURING)), IsEmpty());
  }

  PlanHistory history_;
};

TEST_F(PlanHistoryTest, AStreamGoesOnWhereTheOneBeforeBroke) {
  history_.BeginStream(2);
  EXPECT_THAT(history_.TakeUpdate(Update(3, v1::DONE)), IsEmpty());
  EXPECT_THAT(history_.TakeEnd(), IsEmpty());
  EXPECT_TRUE(history_.has_ended());
}

TEST_F(PlanHistoryTest, GapsAndRepeatsAreFaults) {
  EXPECT_THAT(history_.TakeUpdate(Update(4, v1::DONE)),
              HasSubstr("update 4 where 3 comes next"));
  EXPECT_THAT(history_.TakeUpdate(Update(2, v1::MEASURING)),
              HasSubstr("update 2 where 3 comes next"));
}

TEST_F(PlanHistoryTest, WhatWasReadNeverChanges) {
  history_.BeginStream(0);
  EXPECT_THAT(history_.TakeUpdate(Update(1, v1::QUEUED)), IsEmpty());
  EXPECT_THAT(history_.TakeUpdate(Update(2, v1::MEASURING, "otherwise")),
              HasSubstr("not what it was"));
}

TEST_F(PlanHistoryTest, NothingIsLost) {
  EXPECT_THAT(history_.TakeRecord(Record(1, v1::QUEUED)),
              HasSubstr("2 were read"));
  EXPECT_THAT(history_.TakeRecord(Record(2, v1::SEARCHING)),
              HasSubstr("its updates say MEASURING"));
  EXPECT_THAT(history_.TakeEnd(), HasSubstr("ends at update 2"));
}

TEST_F(PlanHistoryTest, AnEndedPlanStaysAsItIs) {
  EXPECT_THAT(history_.TakeUpdate(Update(3, v1::CANCELLED)), IsEmpty());
  EXPECT_THAT(history_.TakeUpdate(Update(4, v1::MEASURING)),
              HasSubstr("goes on"));
  EXPECT_THAT(history_.TakeRecord(Record(4, v1::MEASURING)),
              HasSubstr("has ended"));
}

TEST_F(PlanHistoryTest, ASubmissionIsOnePlan) {
  v1::PlanRecord other = Record(1, v1::QUEUED);
  other.set_id("plan-8");
  EXPECT_THAT(history_.TakeRecord(other), HasSubstr("is plan-8 now"));
  other = Record(2, v1::MEASURING);
  other.set_module_sha256("another");
  EXPECT_THAT(history_.TakeRecord(other), HasSubstr("another module"));
}

}  // namespace
}  // namespace meshwright::integration
