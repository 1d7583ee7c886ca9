#include "cli/text/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace meshwright::cli {
namespace {

v1::PlanProgress Measuring() {
  v1::PlanProgress progress;
  progress.set_phase("measure");
  progress.set_done(42);
  progress.set_total(84);
  progress.set_cached(32);
  progress.set_best_seconds(0.0273);
  return progress;
}

TEST(ProgressTest, OneLineSaysItAll) {
  EXPECT_EQ(RenderProgress(Measuring(), absl::Seconds(10)),
            "measure [##########----------] 42/84  32 cached  best 27.3 ms  "
            "42.0 s left");
}

TEST(ProgressTest, NothingIsPromisedBeforeAnythingIsDone) {
  v1::PlanProgress progress;
  progress.set_phase("compile");
  progress.set_total(3);
  EXPECT_EQ(RenderProgress(progress, absl::Seconds(10)),
            "compile [--------------------] 0/3");
}

TEST(ProgressTest, MoreDoneThanThereIsStaysInTheBar) {
  v1::PlanProgress progress;
  progress.set_phase("search");
  progress.set_done(7);
  progress.set_total(3);
  EXPECT_EQ(RenderProgress(progress, absl::Seconds(1)),
            "search  [####################] 3/3");
}

TEST(ProgressTest, AFileGetsALineEveryHalfMinute) {
  std::ostringstream out;
  base::FakeClock clock;
  {
    ProgressDisplay display(&out, false, &clock);
    display.Show(Measuring());
    clock.Advance(absl::Seconds(29));
    display.Show(Measuring());
    EXPECT_EQ(out.str(), "");
    clock.Advance(absl::Seconds(1));
    display.Show(Measuring());
    display.Show(Measuring());
  }
  EXPECT_EQ(out.str(),
            "measure [##########----------] 42/84  32 cached  best 27.3 ms  "
            "2 min left\n");
}

TEST(ProgressTest, EveryPhaseKeepsItsLastLine) {
  std::ostringstream out;
  const base::FakeClock clock;
  {
    ProgressDisplay display(&out, true, &clock);
    v1::PlanProgress progress;
    progress.set_phase("analyze");
    display.Show(progress);
    display.Show(Measuring());
  }
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

}  // namespace
}  // namespace meshwright::cli
