#include "coordinator/plans/worker_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiledb/store/memory_plan_store.h"

namespace meshwright::plans {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Counts what it is asked to write.
class CountedWorkers : public store::MemoryPlanStore {
 public:
  absl::Status SetWorkers(store::Epoch epoch,
                          const store::WorkerChanges& changes) override {
    ++writes;
    return MemoryPlanStore::SetWorkers(epoch, changes);
  }
  int writes = 0;
};

class WorkerRowsTest : public testing::Test {
 protected:
  static v1::WorkerSummary Worker(const std::string& name,
                                  const std::string& reason = "") {
    v1::WorkerSummary worker;
    worker.set_id(name);
    worker.set_host("here");
    worker.set_platform("cpu");
    worker.set_device_kind("cpu");
    worker.set_device_count(2);
    worker.set_state(v1::WorkerSummary::IDLE);
    worker.set_seen_seconds_ago(2);
    worker.set_reason(reason);
    return worker;
  }
  void Pass(absl::Duration time) {
    wall_.Advance(time);
    steady_.Advance(time);
  }
  void Lead(WorkerRows& rows) {
    const auto epoch = plans_.BeginEpoch("a");
    ASSERT_TRUE(epoch.ok()) << epoch.status();
    ASSERT_TRUE(rows.Begin(*epoch).ok());
  }
  void Save(WorkerRows& rows, const std::vector<v1::WorkerSummary>& workers) {
    Pass(WorkerRows::kBetweenSaves);
    const absl::Status saved = rows.Save(workers);
    EXPECT_TRUE(saved.ok()) << saved;
  }
  std::vector<std::string> Stored() {
    std::vector<std::string> names;
    const std::vector<store::WorkerRow> rows = *plans_.ListWorkers();
    for (const store::WorkerRow& row : rows) names.push_back(row.worker);
    return names;
  }
  static std::vector<std::string> Missing(const WorkerRows& rows) {
    std::vector<std::string> names;
    for (const v1::WorkerSummary& worker : rows.AddMissing({})) {
      names.push_back(worker.id());
    }
    return names;
  }
  WorkerRows Make() { return WorkerRows(&plans_, &wall_, &steady_); }

  base::FakeClock wall_, steady_;
  CountedWorkers plans_;
};

TEST_F(WorkerRowsTest, TheNextLeaderKnowsWhoIsToComeBack) {
  WorkerRows before = Make(), after = Make();
  Lead(before);
  Save(before, {Worker("a"), Worker("b")});
  Lead(after);
  Pass(absl::Seconds(5));
  std::vector<v1::WorkerSummary> all = after.AddMissing({Worker("b")});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id(), "b");
  EXPECT_EQ(all[0].state(), v1::WorkerSummary::IDLE);
  EXPECT_EQ(all[1].id(), "a");
  EXPECT_EQ(all[1].host(), "here");
  EXPECT_EQ(all[1].device_count(), 2);
  EXPECT_EQ(all[1].state(), v1::WorkerSummary::AWAY);
  EXPECT_EQ(all[1].seen_seconds_ago(), 7);
  EXPECT_THAT(all[1].reason(), HasSubstr("has not come back"));
  Save(after, {Worker("b")});
  EXPECT_THAT(Missing(after), ElementsAre("a"));
  EXPECT_THAT(Stored(), ElementsAre("a", "b"));
  Save(after, {Worker("a"), Worker("b")});
  EXPECT_THAT(Missing(after), IsEmpty());
  // Gone by itself, in this epoch.
  Save(after, {Worker("b")});
  EXPECT_THAT(Missing(after), IsEmpty());
  EXPECT_THAT(Stored(), ElementsAre("b"));
}

TEST_F(WorkerRowsTest, OneThatDoesNotComeBackIsForgotten) {
  WorkerRows before = Make(), after = Make(), later = Make();
  Lead(before);
  Save(before, {Worker("a")});
  Lead(after);
  Pass(WorkerRows::kAwaited);
  Save(after, {});
  EXPECT_THAT(Missing(after), IsEmpty());
  EXPECT_THAT(Stored(), IsEmpty());
  Save(after, {Worker("a")});
  Pass(WorkerRows::kForgotten);
  Lead(later);
  EXPECT_THAT(Missing(later), IsEmpty());
  Save(later, {});
  EXPECT_THAT(Stored(), IsEmpty());
}

TEST_F(WorkerRowsTest, OnlyWhatIsNewIsWritten) {
  WorkerRows rows = Make();
  Lead(rows);
  Save(rows, {Worker("a")});
  EXPECT_EQ(plans_.writes, 1);
  EXPECT_FALSE(rows.IsDue());
  Save(rows, {Worker("a")});
  EXPECT_EQ(plans_.writes, 1);
  Save(rows, {Worker("a", "is draining")});
  EXPECT_EQ(plans_.writes, 2);
  EXPECT_EQ(plans_.ListWorkers()->front().reason, "is draining");
  Pass(WorkerRows::kBetweenSights);
  EXPECT_TRUE(rows.IsDue());
  Save(rows, {Worker("a", "is draining")});
  EXPECT_EQ(plans_.writes, 3);
  EXPECT_EQ(plans_.ListWorkers()->front().seen, wall_.Now() - absl::Seconds(2));
}

TEST_F(WorkerRowsTest, OnlyTheLeaderWrites) {
  WorkerRows rows = Make(), other = Make();
  Save(rows, {Worker("a")});
  EXPECT_THAT(Stored(), IsEmpty());
  Lead(rows);
  Lead(other);
  Pass(WorkerRows::kBetweenSaves);
  EXPECT_TRUE(absl::IsAborted(rows.Save({Worker("a")})));
  rows.End();
  Save(rows, {Worker("a")});
  EXPECT_THAT(Stored(), IsEmpty());
}

TEST_F(WorkerRowsTest, ANameThatNoDatabaseTakesHasNoRow) {
  WorkerRows rows = Make();
  Lead(rows);
  Save(rows, {Worker(std::string("a\0", 2)), Worker("b"),
              Worker(std::string(5000, 'c'))});
  EXPECT_THAT(Stored(), ElementsAre("b"));
}

TEST_F(WorkerRowsTest, AFollowerReadsThemAndKnowsNoState) {
  WorkerRows leader = Make();
  Lead(leader);
  Save(leader, {Worker("a"), Worker("b", "it drains")});
  const auto read = ReadWorkers(plans_, wall_.Now(), "a:1");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(read->at(0).id(), "a");
  EXPECT_EQ(read->at(0).device_count(), 2);
  EXPECT_EQ(read->at(0).state(), v1::WorkerSummary::STATE_UNSPECIFIED);
  EXPECT_THAT(read->at(0).reason(), HasSubstr("a:1"));
  EXPECT_EQ(read->at(1).reason(), "it drains");
  const auto later =
      ReadWorkers(plans_, wall_.Now() + WorkerRows::kForgotten, "");
  ASSERT_TRUE(later.ok()) << later.status();
  EXPECT_THAT(*later, IsEmpty());
}

}  // namespace
}  // namespace meshwright::plans
