#include "planner/intraop/op_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/intraop/testing/random_model.h"

namespace meshwright::intraop {
namespace {

using ::testing::HasSubstr;

template <typename Change>
std::string Message(Change change) {
  OpModel model = RandomModel(1, 3);
  change(model);
  return std::string(Validate(model).message());
}

TEST(OpModelTest, BadModelsAreRefusedByField) {
  EXPECT_EQ(Message([](OpModel&) {}), "");
  EXPECT_THAT(
      Message([](OpModel& m) { m.operators[1].indices[0].divisible = 0; }),
      HasSubstr("operators[1].indices[0].divisible is 0"));
  EXPECT_THAT(Message([](OpModel& m) { m.operators[1].time[0].amount = -1; }),
              HasSubstr("operators[1].time[0].amount is -1"));
  EXPECT_THAT(
      Message([](OpModel& m) { m.operators[1].saved[0].indices[1] = 3; }),
      HasSubstr("operators[1].saved[0].indices[1] is 3"));
  EXPECT_THAT(
      Message([](OpModel& m) { m.operators[0].partials[2].summed = {-1}; }),
      HasSubstr("operators[0].partials[2].summed[0] is -1"));
  EXPECT_THAT(
      Message([](OpModel& m) { m.operators[0].partials[2].times = -1; }),
      HasSubstr("partials[2].times is -1"));
  EXPECT_THAT(Message([](OpModel& m) { m.operators[0].rows = 7; }),
              HasSubstr("operators[0].rows is 7"));
  EXPECT_THAT(Message([](OpModel& m) { m.edges[0].to = 0; }),
              HasSubstr("edges[0] leads from 0 to 0"));
  EXPECT_THAT(Message([](OpModel& m) { m.edges[0].dims.pop_back(); }),
              HasSubstr("edges[0] has 1 dims"));
  EXPECT_THAT(Message([](OpModel& m) { m.edges[0].dims[0] = 0; }),
              HasSubstr("edges[0].dims holds 0"));
  EXPECT_THAT(Message([](OpModel& m) { m.edges[0].elem_bytes = 0; }),
              HasSubstr("elem_bytes 0"));
  EXPECT_THAT(Message([](OpModel& m) { m.edges[0].to_indices[0] = 3; }),
              HasSubstr("edges[0].to_indices[0] is 3"));
}

}  // namespace
}  // namespace meshwright::intraop
