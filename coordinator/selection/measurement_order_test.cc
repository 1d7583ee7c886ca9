#include "coordinator/selection/measurement_order.h"

#include <gtest/gtest.h>

namespace meshwright::selection {
namespace {

TEST(MeasurementOrder, KeepsTheProgramsAndTheirOrder) {
  std::vector<v1::Program> programs(5);
  std::vector<const v1::Program*> all;
  for (size_t i = 0; i < programs.size(); ++i) {
    programs[i].set_key(std::string(1, static_cast<char>('a' + i)));
    all.push_back(&programs[i]);
  }
  std::string order;
  for (const auto* it : MeasurementOrder{{"d", "b"}}.Sort(all))
    order += it->key();
  EXPECT_EQ(order, "bdace");
  EXPECT_EQ(MeasurementOrder{}.Sort(all), all);
}

}  // namespace
}  // namespace meshwright::selection
