#include "coordinator/planning/program_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "profiledb/store/anchor_time.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::planning {
namespace {

using testing::ElementsAre;

v1::ProfileResult Took(int64_t nanoseconds, int64_t anchor_ns) {
  v1::ProfileResult row = store::MakeMeasured("any", nanoseconds);
  v1::Measurement& it = *row.mutable_measurement();
  it.set_median_ns(nanoseconds);
  it.set_mad_ns(nanoseconds / 100);
  v1::AnchorTime& anchor = *it.add_anchors();
  anchor.set_name(store::kSpeedAnchor);
  anchor.set_minimum_ns(anchor_ns);
  return row;
}

class ProgramTimesTest : public testing::Test {
 protected:
  ProgramTimesTest() {
    for (const char* key : {"layer", "head", "unknown", "failed"}) {
      step_.space.programs.emplace_back().set_key(key);
    }
    step_.rows = {{"layer", Took(3000, 100)}, {"head", Took(500, 100)}};
    step_.rows["failed"] = store::MakeRow("failed", v1::COMPILE_FAILED, "why");
    step_.results = step_.rows;
  }

  MeasuredStep step_;
  v1::Plan plan_;
};

TEST_F(ProgramTimesTest, AreOfWhatWasMeasuredEachOnce) {
  AddProgramTimes(step_, plan_);
  AddProgramTimes(step_, plan_);
  ASSERT_EQ(plan_.program_times_size(), 2);
  EXPECT_EQ(plan_.program_times(0).key(), "layer");
  EXPECT_EQ(plan_.program_times(0).time_ns(), 3000);
  EXPECT_EQ(plan_.program_times(1).time_ns(), 500);
  EXPECT_THAT(ListTimedKeys(plan_), ElementsAre("head", "layer"));
}

TEST_F(ProgramTimesTest, TakeThePlaceOfRowsThatChanged) {
  AddProgramTimes(step_, plan_);
  store::Results later = {{"layer", Took(2000, 90)}, {"new", Took(700, 90)}};
  UseProgramTimes(plan_, later);
  EXPECT_EQ(later.size(), 2u);
  EXPECT_EQ(later["layer"].measurement().minimum_ns(), 3000);
  EXPECT_EQ(later["layer"].measurement().mad_ns(), 30);
  EXPECT_EQ(later["new"].measurement().minimum_ns(), 700);
}

TEST_F(ProgramTimesTest, OfAForgedFileAreLeftOut) {
  AddProgramTimes(step_, plan_);
  for (const int64_t forged : {int64_t{-5}, int64_t{0}, INT64_MAX}) {
    plan_.mutable_program_times(0)->set_time_ns(forged);
    store::Results rows = step_.rows;
    UseProgramTimes(plan_, rows);
    EXPECT_EQ(rows["layer"].measurement().minimum_ns(), 3000) << forged;
    EXPECT_THAT(ListTimedKeys(plan_), ElementsAre("head")) << forged;
  }
}

// A row that no plan had a time of is brought to the base of those it had.
TEST_F(ProgramTimesTest, OtherRowsComeToThePlansBase) {
  UseTimeBase(plan_, step_);
  EXPECT_EQ(step_.results["layer"].measurement().minimum_ns(), 3000);
  EXPECT_FALSE(step_.time_base.has_value());
  v1::AnchorTime& anchor = *plan_.add_anchors();
  anchor.set_name(store::kSpeedAnchor);
  anchor.set_minimum_ns(110);
  step_.time_base = 100;
  for (int again = 0; again < 2; ++again) {
    UseTimeBase(plan_, step_);
    EXPECT_EQ(step_.results["layer"].measurement().minimum_ns(), 3300);
    EXPECT_EQ(step_.time_base, 110);
  }
}

}  // namespace
}  // namespace meshwright::planning
