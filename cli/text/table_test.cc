#include "cli/text/table.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

TEST(TableTest, AColumnIsAsWideAsItsLongestCell) {
  EXPECT_EQ(FormatTable({{"plan", Align::kLeft}, {"time"}},
                        {{"chosen", "1.0 s"}, {"dp", "12.5 ms"}}),
            "plan       time\n"
            "chosen    1.0 s\n"
            "dp      12.5 ms\n");
}

TEST(TableTest, ARemarkMakesNoColumnWider) {
  EXPECT_EQ(FormatTable({{"plan", Align::kLeft}, {"time"}, {"peak"}},
                        {{"a", "did not run: no memory"}, {"b", "1 s", "2"}}),
            "plan  time  peak\n"
            "a     did not run: no memory\n"
            "b      1 s     2\n");
}

TEST(TableTest, ANameIsNoOrderToTheTerminal) {
  EXPECT_EQ(FormatTable({{"plan", Align::kLeft}, {"model", Align::kLeft}},
                        {{"plan-1", "a\nplan-2\x1b[2J"}, {"plan-3", "b"}}),
            "plan    model\n"
            "plan-1  a plan-2?[2J\n"
            "plan-3  b\n");
}

TEST(TableTest, WithoutTitlesThereAreRowsAlone) {
  EXPECT_EQ(FormatTable({{"", Align::kLeft}, {"", Align::kLeft}},
                        {{"0", "rows"}, {"1-12", ""}}, /*indent=*/2),
            "  0     rows\n"
            "  1-12\n");
  EXPECT_EQ(FormatTable({{""}}, {}), "");
}

}  // namespace
}  // namespace meshwright::cli
