#include "coordinator/jobs/gangs/gang.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace meshwright::jobs::gangs {
namespace {

using testing::HasSubstr;

const absl::Time kBegin = absl::UnixEpoch();

v1::ProfileResult MakeRow(const std::string& key, v1::Outcome outcome,
                          const std::string& reason = "") {
  v1::ProfileResult result;
  result.set_key(key);
  result.set_outcome(outcome);
  result.set_reason(reason);
  return result;
}

Gang MakeRunning(int size, const std::vector<std::string>& keys) {
  Gang gang(size, keys, kBegin, {});
  for (int rank = 0; rank < size; ++rank) gang.Arrive(rank, kBegin);
  return gang;
}

TEST(GangTest, AllGoWhenTheLastIsAtTheGate) {
  Gang gang(3, {"a"}, kBegin, {});
  EXPECT_FALSE(gang.Arrive(2, kBegin));
  EXPECT_FALSE(gang.Arrive(0, kBegin));
  EXPECT_FALSE(gang.Arrive(0, kBegin));  // it is there already
  EXPECT_TRUE(gang.Arrive(1, kBegin));
  EXPECT_EQ(gang.state(), Gang::State::kRunning);
  EXPECT_FALSE(gang.Arrive(1, kBegin));
}

TEST(GangTest, AProgramHasItsResultWhenEveryMemberHasSaidOne) {
  Gang gang = MakeRunning(2, {"a", "b"});
  EXPECT_FALSE(gang.Add(1, MakeRow("a", v1::MEASURED, "rank 1")).has_value());
  EXPECT_FALSE(gang.Add(1, MakeRow("a", v1::MEASURED, "rank 1")).has_value());
  const auto row = gang.Add(0, MakeRow("a", v1::MEASURED, "rank 0"));
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->reason(), "rank 0");
  EXPECT_FALSE(gang.Add(0, MakeRow("no program", v1::MEASURED)).has_value());
}

TEST(GangTest, AProgramHasTheNoiseOfAnyMemberAndTheMemoryOfTheFullest) {
  Gang gang = MakeRunning(2, {"a"});
  v1::ProfileResult quiet = MakeRow("a", v1::MEASURED, "rank 0");
  quiet.mutable_measurement()->set_quality(v1::GOOD);
  quiet.mutable_measurement()->mutable_memory()->set_peak_bytes(1);
  v1::ProfileResult noisy = MakeRow("a", v1::MEASURED, "rank 1");
  noisy.mutable_measurement()->set_quality(v1::NOISY);
  noisy.mutable_measurement()->add_noise(v1::BUSY_MACHINE);
  noisy.mutable_measurement()->mutable_memory()->set_peak_bytes(2);
  gang.Add(0, quiet);
  const auto row = gang.Add(1, noisy);
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->reason(), "rank 0");
  EXPECT_EQ(row->measurement().quality(), v1::NOISY);
  EXPECT_EQ(row->measurement().noise_size(), 1);
  EXPECT_EQ(row->measurement().memory().peak_bytes(), 2);
}

// Kernels of the others waited for the one that began last.
TEST(GangTest, AProgramHasTheRowOfTheShortestTime) {
  Gang gang = MakeRunning(3, {"a"});
  const int64_t times[] = {30, 10, 20};
  std::optional<v1::ProfileResult> row;
  for (int rank = 0; rank < 3; ++rank) {
    v1::ProfileResult result = MakeRow("a", v1::MEASURED);
    result.mutable_measurement()->set_time_ns(times[rank]);
    result.mutable_measurement()->set_communication_ns(times[rank] / 2);
    result.mutable_measurement()->mutable_memory()->set_peak_bytes(3 - rank);
    row = gang.Add(rank, result);
  }
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->measurement().time_ns(), 10);
  EXPECT_EQ(row->measurement().communication_ns(), 5);
  EXPECT_EQ(row->measurement().memory().peak_bytes(), 3);
}

TEST(GangTest, AProgramThatFailsOnOneMemberFails) {
  Gang gang = MakeRunning(3, {"a", "b"});
  gang.Add(0, MakeRow("a", v1::MEASURED));
  gang.Add(1, MakeRow("a", v1::OUT_OF_MEMORY, "rank 1 has none"));
  const auto row = gang.Add(2, MakeRow("a", v1::CRASHED));
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->outcome(), v1::OUT_OF_MEMORY);
  EXPECT_EQ(row->reason(), "rank 1 has none");
}

TEST(GangTest, ADeathIsOfAProgramThatIsAlone) {
  Gang gang = MakeRunning(2, {"a"});
  EXPECT_FALSE(gang.FindDeath().has_value());
  gang.Add(1, MakeRow("a", v1::TIMED_OUT, "too long"));
  ASSERT_TRUE(gang.FindDeath().has_value());
  EXPECT_EQ(gang.FindDeath()->reason(), "on rank 1: too long");
  // Whether the runners outlived it is not known yet.
  EXPECT_FALSE(gang.Add(0, MakeRow("a", v1::TIMED_OUT)).has_value());

  Gang measured = MakeRunning(2, {"a"});
  measured.Add(1, MakeRow("a", v1::MEASURED));
  EXPECT_FALSE(measured.FindDeath().has_value());

  Gang killed = MakeRunning(2, {"a"});
  killed.Add(1, MakeRow("a", v1::TRANSIENT));
  EXPECT_FALSE(killed.FindDeath().has_value());

  Gang of_two = MakeRunning(2, {"a", "b"});
  of_two.Add(1, MakeRow("a", v1::CRASHED));
  EXPECT_FALSE(of_two.FindDeath().has_value());
}

TEST(GangTest, NothingCountsBeforeTheGate) {
  Gang gang(1, {"a"}, kBegin, {});
  EXPECT_FALSE(gang.Add(0, MakeRow("a", v1::MEASURED)).has_value());
  EXPECT_FALSE(gang.Finish(0));
}

TEST(GangTest, IsOverWhenEveryMemberIsFinished) {
  Gang gang = MakeRunning(2, {"a"});
  gang.Add(0, MakeRow("a", v1::MEASURED));
  EXPECT_TRUE(gang.Finish(0));
  EXPECT_EQ(gang.state(), Gang::State::kRunning);
  gang.Add(1, MakeRow("a", v1::MEASURED));
  EXPECT_TRUE(gang.Finish(1));
  EXPECT_EQ(gang.state(), Gang::State::kOver);
}

TEST(GangTest, IsBrokenByAMemberThatLeavesAProgram) {
  Gang gang = MakeRunning(2, {"a", "b"});
  gang.Add(0, MakeRow("a", v1::MEASURED));
  EXPECT_FALSE(gang.Finish(0));
}

TEST(GangTest, NamesTheMemberThatIsNotReady) {
  const GangOptions options;
  Gang gang(3, {"a"}, kBegin, options);
  gang.Arrive(0, kBegin);
  gang.Arrive(2, kBegin);
  const absl::Time late = kBegin + options.ready_time;
  EXPECT_FALSE(gang.FindHoldup(late).has_value());
  const auto holdup = gang.FindHoldup(late + absl::Seconds(1));
  ASSERT_TRUE(holdup.has_value());
  EXPECT_EQ(holdup->rank, 1);
  EXPECT_EQ(holdup->reason, "is not ready after 2m1s");
}

TEST(GangTest, NamesTheMemberThatMakesNoProgress) {
  const GangOptions options;
  Gang gang = MakeRunning(2, {"a"});
  const absl::Time late = kBegin + options.silence + absl::Seconds(1);
  gang.Hear(0, late);
  const auto holdup = gang.FindHoldup(late);
  ASSERT_TRUE(holdup.has_value());
  EXPECT_EQ(holdup->rank, 1);
  EXPECT_THAT(holdup->reason, HasSubstr("makes no progress for 25m1s"));
  // One that is finished need not say anything.
  gang.Add(1, MakeRow("a", v1::MEASURED));
  gang.Finish(1);
  EXPECT_FALSE(gang.FindHoldup(late).has_value());
}

}  // namespace
}  // namespace meshwright::jobs::gangs
