#include "cli/text/explanation_text.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

TEST(ExplanationTest, LayersThatChooseAlikeAreOneLine) {
  v1::PlanExplanation explanation;
  v1::PlanChoice& layers = *explanation.add_choices();
  layers.set_type(1);
  layers.set_describe("rows, columns");
  for (int s = 1; s < 97; ++s) layers.add_segments(s);
  v1::PlanAlternative& next = *layers.mutable_next_best();
  next.set_more_seconds(0.0123);
  next.set_at_least_seconds(0.0123);
  next.set_more_share(0.05);
  next.set_noise_seconds(0.002);
  next.set_compute_seconds(0.010);
  next.set_communication_seconds(0.0033);
  next.set_resharding_seconds(-0.001);
  next.set_peak_bytes(-1 << 20);
  v1::PlanChange& change = *next.add_changes();
  change.set_to("rows, rows");
  for (int s = 1; s < 97; ++s) change.add_segments(s);
  v1::PlanChoice& head = *explanation.add_choices();
  head.set_type(2);
  head.set_describe("columns");
  head.add_segments(97);
  EXPECT_EQ(
      DescribeExplanation(explanation),
      "time saved by each choice (segments, type, configuration)\n"
      "  1-96    type 1  rows, columns\n"
      "          saves 12.3 ms (5.00 %) against the next best plan, +- 2.0 "
      "ms\n"
      "          next best plan: compute +10.0 ms, communication +3.3 ms, "
      "resharding -1.0 ms, memory -1.0 MiB\n"
      "            1-96: rows, rows\n"
      "  97      type 2  columns\n"
      "          no plan without this choice is allowed and fits\n");
}

// Where one plan is the next best whatever choice is left out.
TEST(ExplanationTest, ANextBestPlanIsShownOnce) {
  v1::PlanExplanation explanation;
  for (int s : {0, 1}) {
    v1::PlanChoice& choice = *explanation.add_choices();
    choice.add_segments(s);
    choice.mutable_next_best()->set_more_seconds(0.001);
    v1::PlanChange& change = *choice.mutable_next_best()->add_changes();
    change.set_to("columns");
    change.add_segments(7);
  }
  const std::string text = DescribeExplanation(explanation);
  EXPECT_EQ(text.find("7: columns"), text.rfind("7: columns"));
  EXPECT_NE(text.find("the same plan as for segments 0"), std::string::npos);
}

TEST(ExplanationTest, NoiseAndSearchesCutShortAreSaid) {
  v1::PlanExplanation explanation;
  v1::PlanChoice& choice = *explanation.add_choices();
  choice.add_segments(0);
  v1::PlanAlternative& next = *choice.mutable_next_best();
  next.set_more_seconds(0.001);
  next.set_noise_seconds(0.002);
  next.set_within_noise(true);
  next.set_at_least_seconds(0.0005);
  const std::string text = DescribeExplanation(explanation);
  EXPECT_NE(text.find("within the noise of 2.0 ms"), std::string::npos);
  EXPECT_NE(text.find("proven: +500.0 us"), std::string::npos);
  next.set_more_seconds(-0.001);
  next.set_more_share(-0.02);
  EXPECT_NE(DescribeExplanation(explanation).find("costs 1.0 ms (2.00 %) more"),
            std::string::npos);
}

}  // namespace
}  // namespace meshwright::cli
