#include "coordinator/plans/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace meshwright::plans {
namespace {

using store::PlanId;
using testing::ElementsAre;
using testing::IsEmpty;
using Kind = Turns::Kind;

class TurnsTest : public testing::Test {
 protected:
  static Turns NewTurns(int look_ups, int measurements) {
    return Turns({.look_ups = look_ups, .measurements = measurements});
  }
  static void Submit(Turns& turns, int id, const std::string& name_space = "a",
                     int priority = 0, const std::string& device = "cpu") {
    turns.Enter(PlanId{id}, {name_space, device}, priority);
    turns.Wait(PlanId{id}, Kind::kLookUp);
  }
  // Those whose turn it is, in order.
  std::vector<int64_t> Give(Turns& turns) const {
    std::vector<int64_t> given;
    while (const auto next = turns.Give(now_)) given.push_back(next->value);
    return given;
  }
  void Release(Turns& turns, int id) const { turns.Release(PlanId{id}, now_); }
  static std::vector<int64_t> AskToGiveWay(Turns& turns) {
    std::vector<int64_t> asked;
    for (const PlanId id : turns.AskToGiveWay()) asked.push_back(id.value);
    return asked;
  }
  // It measures, or waits to.
  void Measure(Turns& turns, int id) const {
    if (turns.Upgrade(PlanId{id})) return;
    Release(turns, id);
    turns.Wait(PlanId{id}, Kind::kMeasuring);
  }

  absl::Time now_ = absl::UnixEpoch();
};

TEST_F(TurnsTest, PlansGoByPriorityThenNamespaceThenAge) {
  Turns turns = NewTurns(1, 1);
  Submit(turns, 1);
  EXPECT_THAT(Give(turns), ElementsAre(1));
  Submit(turns, 2);
  Submit(turns, 3);
  Submit(turns, 4, "b");
  Submit(turns, 5, "a", 100);
  now_ += absl::Seconds(1);  // charged to a
  std::vector<int64_t> order;
  for (int running = 1; running > 0;) {
    Release(turns, running);
    const std::vector<int64_t> next = Give(turns);
    running = next.empty() ? 0 : static_cast<int>(next[0]);
    order.insert(order.end(), next.begin(), next.end());
  }
  EXPECT_THAT(order, ElementsAre(5, 4, 2, 3));
}

TEST_F(TurnsTest, ANamespaceWithoutATurnComesBeforeOneThatHasSome) {
  Turns turns = NewTurns(3, 1);
  for (int id = 1; id <= 4; ++id) Submit(turns, id);
  EXPECT_THAT(Give(turns), ElementsAre(1, 2, 3));
  Submit(turns, 5, "b");
  Release(turns, 1);
  EXPECT_THAT(Give(turns), ElementsAre(5));
}

TEST_F(TurnsTest, OneThatMeasuresKeepsNobodyFromLookingUp) {
  Turns turns = NewTurns(1, 1);
  Submit(turns, 1);
  Submit(turns, 2);
  EXPECT_THAT(Give(turns), ElementsAre(1));
  Measure(turns, 1);
  EXPECT_THAT(Give(turns), ElementsAre(2));
  Measure(turns, 2);  // none is free
  EXPECT_THAT(Give(turns), IsEmpty());
  EXPECT_THAT(AskToGiveWay(turns), IsEmpty());
  Submit(turns, 3);
  EXPECT_THAT(Give(turns), ElementsAre(3));
  Release(turns, 1);
  EXPECT_THAT(Give(turns), ElementsAre(2));
  EXPECT_TRUE(turns.Upgrade(PlanId{2}));  // it measures already
}

TEST_F(TurnsTest, OneThatMeasuresGivesWayToAHigherPriority) {
  Turns turns = NewTurns(8, 2);
  for (int id = 1; id <= 3; ++id) Submit(turns, id);
  Submit(turns, 4, "a", 100);
  EXPECT_THAT(Give(turns), ElementsAre(4, 1, 2, 3));
  for (int id = 1; id <= 4; ++id) Measure(turns, id);
  EXPECT_THAT(AskToGiveWay(turns), ElementsAre(2));  // the newest
  EXPECT_THAT(AskToGiveWay(turns), IsEmpty());
  EXPECT_THAT(Give(turns), IsEmpty());
  Release(turns, 2);
  turns.Wait(PlanId{2}, Kind::kMeasuring);
  EXPECT_THAT(Give(turns), ElementsAre(4));
  Release(turns, 1);
  EXPECT_THAT(Give(turns), ElementsAre(2));
}

TEST_F(TurnsTest, OneThatIsPromisedATurnTakesAnyThatIsFreeFirst) {
  Turns turns = NewTurns(8, 2);
  for (int id = 1; id <= 3; ++id) Submit(turns, id, "a", id);
  Give(turns);
  for (int id = 1; id <= 3; ++id) Measure(turns, id);
  EXPECT_THAT(AskToGiveWay(turns), ElementsAre(1));
  Release(turns, 2);
  EXPECT_THAT(Give(turns), ElementsAre(3));
  Release(turns, 1);
  EXPECT_THAT(Give(turns), IsEmpty());
}

TEST_F(TurnsTest, ACancelledPlanLeavesItsPlaceToTheNext) {
  Turns turns = NewTurns(8, 1);
  for (int id = 1; id <= 3; ++id) Submit(turns, id, "a", id);
  Give(turns);
  for (int id = 1; id <= 3; ++id) Measure(turns, id);
  EXPECT_THAT(AskToGiveWay(turns), ElementsAre(1));
  turns.Leave(PlanId{3});  // that was promised the turn
  turns.Leave(PlanId{1});  // that runs
  EXPECT_THAT(Give(turns), IsEmpty());
  Release(turns, 1);
  turns.Wait(PlanId{1}, Kind::kLookUp);
  EXPECT_THAT(Give(turns), ElementsAre(2));
}

// A team that comes later gets its share, whatever the first one holds.
TEST_F(TurnsTest, NamespacesShareTheMeasuringTurnsEvenly) {
  for (const int teams : {2, 3}) {
    Turns turns = NewTurns(64, 6);
    int id = 0;
    std::vector<int> held(teams);
    for (int team = 0; team < teams; ++team) {
      for (int i = 0; i < 8; ++i) {
        Submit(turns, ++id, std::string(1, static_cast<char>('a' + team)));
      }
      for (const int64_t next : Give(turns))
        Measure(turns, static_cast<int>(next));
    }
    std::vector<bool> measures(id + 1);
    for (int i = 1; i <= 6; ++i) measures[i] = true;
    int steps = 0;
    while (true) {
      const std::vector<int64_t> asked = AskToGiveWay(turns);
      if (asked.empty()) break;
      for (const int64_t one : asked) {
        Release(turns, static_cast<int>(one));
        measures[one] = false;
        turns.Wait(PlanId{one}, Kind::kMeasuring);
        for (const int64_t next : Give(turns)) measures[next] = true;
      }
      ASSERT_LT(++steps, 100);
    }
    for (int i = 1; i <= id; ++i) held[(i - 1) / 8] += measures[i];
    EXPECT_THAT(held, testing::Each(6 / teams));
  }
}

TEST_F(TurnsTest, ANamespacesPlansForOtherDevicesGetTheirShareOfTheTurns) {
  Turns turns = NewTurns(8, 2);
  for (int id = 1; id <= 3; ++id) Submit(turns, id);
  Submit(turns, 4, "a", 0, "gpu");
  Give(turns);
  for (int id = 1; id <= 4; ++id) Measure(turns, id);
  EXPECT_THAT(AskToGiveWay(turns), ElementsAre(2));
  Release(turns, 2);
  turns.Wait(PlanId{2}, Kind::kMeasuring);
  EXPECT_THAT(Give(turns), ElementsAre(4));
  EXPECT_THAT(AskToGiveWay(turns), IsEmpty());
}

// Looking up needs no devices: a plan's kind of them does not matter there.
TEST_F(TurnsTest, AShareIsChargedForMeasuringWithItsOwnDevices) {
  Turns turns = NewTurns(1, 1);
  Submit(turns, 1);
  EXPECT_THAT(Give(turns), ElementsAre(1));
  Measure(turns, 1);
  for (const int id : {2, 3, 4}) {
    Submit(turns, id, id == 4 ? "b" : "a", 0, id == 2 ? "cpu" : "gpu");
    EXPECT_THAT(Give(turns), ElementsAre(id));
    Measure(turns, id);
  }
  now_ += absl::Seconds(1);  // charged to a, and to a's plans for the cpu
  Release(turns, 1);
  EXPECT_THAT(Give(turns), ElementsAre(3));
  Submit(turns, 5, "a", 0, "gpu");
  EXPECT_THAT(Give(turns), ElementsAre(5));
  Submit(turns, 6, "a", 0, "gpu");
  Submit(turns, 7, "b");
  Release(turns, 5);
  EXPECT_THAT(Give(turns), ElementsAre(7));
}

// The first runs of three plans pin two of them to the same devices.
TEST_F(TurnsTest, APinnedPlanTakesItsTurnToTheShareOfItsDevices) {
  Turns turns = NewTurns(8, 2);
  for (int id = 1; id <= 3; ++id) Submit(turns, id);
  Give(turns);
  turns.Pin(PlanId{1}, "one kind");
  Measure(turns, 1);
  turns.Pin(PlanId{2}, "one kind");
  Measure(turns, 2);
  EXPECT_THAT(AskToGiveWay(turns), IsEmpty());
  turns.Pin(PlanId{3}, "another kind");
  Measure(turns, 3);
  EXPECT_THAT(AskToGiveWay(turns), ElementsAre(2));
  turns.Pin(PlanId{9}, "one kind");  // unknown: nothing
  turns.Leave(PlanId{3});
  Release(turns, 2);
  Release(turns, 1);
  Submit(turns, 4, "a", 0, "one kind");
  EXPECT_THAT(Give(turns), ElementsAre(4));
}

}  // namespace
}  // namespace meshwright::plans
