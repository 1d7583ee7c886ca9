#include "worker/runner/quiet_period.h"

#include <gtest/gtest.h>

namespace meshwright::worker::runner {
namespace {

TEST(PatienceTest, AMachineThatStaysBusyCostsABatchTwiceTheLimit) {
  Patience patience(absl::Seconds(5));
  absl::Duration waited;
  for (int group = 0; group < 1000; ++group) {
    waited += patience.left();
    patience.NoteWait(false);
  }
  EXPECT_LE(waited, absl::Seconds(10));
}

TEST(PatienceTest, ACalmMachineRestoresIt) {
  Patience patience(absl::Seconds(5));
  patience.NoteWait(false);
  patience.NoteWait(false);
  EXPECT_LT(patience.left(), absl::Seconds(2));
  patience.NoteWait(true);
  EXPECT_EQ(patience.left(), absl::Seconds(5));
}

}  // namespace
}  // namespace meshwright::worker::runner
