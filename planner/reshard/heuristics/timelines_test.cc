#include "planner/reshard/heuristics/timelines.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace meshwright::reshard {
namespace {

// The earliest start on one link, from a calendar with a field per tick.
Ticks FindStart(const std::vector<bool>& busy, Ticks ticks) {
  Ticks free = 0;
  for (Ticks time = 0;; ++time) {
    free = busy[time] ? 0 : free + 1;
    if (free == ticks) return time + 1 - ticks;
  }
}

// Where the job fits, at or after `from`.
Ticks PlaceApart(std::vector<bool> busy, Ticks ticks, Ticks from) {
  for (Ticks time = 0; time < from; ++time) busy[time] = true;
  return FindStart(busy, ticks);
}

// One sender and one receiver that share every job. Some stand apart, and later
// ones fill the gaps between them.
TEST(TimelinesTest, JobsThatTouchLeaveTheSameGaps) {
  Instance instance;
  instance.out_links = {1};
  instance.in_links = {1};
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    Timelines lines(instance);
    std::vector<bool> busy_ticks(1000, false);
    for (int i = 0; i < 40; ++i) {
      const auto ticks = static_cast<Ticks>(1 + random() % 5);
      const bool apart = random() % 3 == 0;
      const Job job{.choices = {{0, ticks}}, .receivers = {0}};
      const Ticks start = lines.Earliest(job, job.choices[0]);
      ASSERT_EQ(start, FindStart(busy_ticks, ticks)) << round << " " << i;
      const Ticks place =
          apart ? PlaceApart(busy_ticks, ticks, random() % 150) : start;
      lines.Place(job, job.choices[0], place);
      for (Ticks t = place; t < place + ticks; ++t) busy_ticks[t] = true;
    }
  }
}

}  // namespace
}  // namespace meshwright::reshard
