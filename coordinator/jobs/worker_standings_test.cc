#include "coordinator/jobs/worker_standings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::jobs {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const absl::Time kStart = absl::FromUnixSeconds(1'000);

TEST(WorkerStandingsTest, TwoBarrenBatchesInARowSetAWorkerAside) {
  WorkerStandings standings({});
  standings.AddBarren("a", "no disk", kStart);
  EXPECT_THAT(standings.FindReason("a", kStart), IsEmpty());
  standings.Clear("a");  // a program started
  standings.AddBarren("a", "no disk", kStart);
  EXPECT_THAT(standings.FindReason("a", kStart), IsEmpty());
  standings.AddBarren("a", "no plugin", kStart);
  const std::string reason = standings.FindReason("a", kStart);
  EXPECT_THAT(reason, HasSubstr("lost 2 batches before their first program"));
  EXPECT_THAT(reason, HasSubstr("in 10s; the last one: no plugin"));
  EXPECT_THAT(standings.FindReason("b", kStart), IsEmpty());
  EXPECT_THAT(standings.FindReason("a", kStart + absl::Seconds(10)), IsEmpty());
}

TEST(WorkerStandingsTest, EachProbeThatFailsDoublesTheTime) {
  WorkerStandings standings({});
  absl::Time now = kStart;
  standings.AddBarren("a", "no disk", now);
  for (const int seconds : {10, 20, 40, 80, 160, 300, 300}) {
    standings.AddBarren("a", "no disk", now);
    now += absl::Seconds(seconds) - absl::Nanoseconds(1);
    EXPECT_THAT(standings.FindReason("a", now), HasSubstr("no disk"))
        << seconds;
    now += absl::Nanoseconds(1);
    EXPECT_THAT(standings.FindReason("a", now), IsEmpty()) << seconds;
  }
  standings.Clear("a");
  standings.AddBarren("a", "no disk", now);
  EXPECT_THAT(standings.FindReason("a", now), IsEmpty());
}

TEST(WorkerStandingsTest, NoneIsSetAsideWhereThatIsOff) {
  WorkerStandings standings({.barren_batches = 0});
  for (int i = 0; i < 9; ++i) standings.AddBarren("a", "no disk", kStart);
  EXPECT_THAT(standings.FindReason("a", kStart), IsEmpty());
}

TEST(WorkerStandingsTest, WhatIsLongOverIsForgotten) {
  WorkerStandings standings({});
  standings.AddBarren("a", "no disk", kStart);
  standings.Expire(kStart + absl::Minutes(59));
  standings.AddBarren("a", "no disk", kStart);
  EXPECT_THAT(standings.FindReason("a", kStart), HasSubstr("no disk"));
  standings.Expire(kStart + absl::Hours(2));
  standings.AddBarren("a", "no disk", kStart);
  EXPECT_THAT(standings.FindReason("a", kStart), IsEmpty());
}

}  // namespace
}  // namespace meshwright::jobs
