#include "planner/checkpoint/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace meshwright::checkpoint {
namespace {

using ::testing::HasSubstr;
using Kind = Operation::Kind;

Operation Keep(int i) { return {Kind::kForwardKeep, i}; }
Operation Drop(int i) { return {Kind::kForwardDrop, i}; }
Operation Save(int i) { return {Kind::kForwardSave, i}; }
Operation Back(int i) { return {Kind::kBackward, i}; }
const Operation kL = {Kind::kLoss, 0};

// act 10, 20, 5; saved 100, 300.
Chain TwoStages() {
  Chain chain;
  chain.forward = {Picoseconds(1), Picoseconds(2)};
  chain.backward = {Picoseconds(10), Picoseconds(20)};
  chain.act_bytes = {10, 20, 5};
  chain.saved_bytes = {100, 300};
  chain.loss = Picoseconds(1000);
  return chain;
}

Replayed Good(const Chain& chain, const Sequence& sequence) {
  const auto replayed = Replay(chain, sequence);
  EXPECT_TRUE(replayed.ok()) << replayed.status();
  return replayed.ok() ? *replayed : Replayed{};
}

std::string Bad(const Chain& chain, const Sequence& sequence) {
  const auto replayed = Replay(chain, sequence);
  EXPECT_FALSE(replayed.ok());
  return std::string(replayed.status().message());
}

TEST(ReplayTest, SavesEverything) {
  const Chain chain = TwoStages();
  const Replayed replayed =
      Good(chain, {Save(0), Save(1), kL, Back(1), Back(0)});
  EXPECT_EQ(replayed.makespan, Picoseconds(1033));
  // L: act[0] + both saved + the gradient of act[2]; B_1 the same.
  EXPECT_EQ(replayed.peak_bytes, 10 + 100 + 300 + 5);
}

TEST(ReplayTest, KeepsAndRepeats) {
  const Chain chain = TwoStages();
  const Replayed replayed =
      Good(chain, {Keep(0), Save(1), kL, Back(1), Save(0), Back(0)});
  EXPECT_EQ(replayed.makespan, Picoseconds(1034));
  EXPECT_EQ(replayed.peak_bytes, 10 + 20 + 300 + 5);
}

TEST(ReplayTest, ForwardCountsOutputTransientAndGradient) {
  Chain chain = TwoStages();
  chain.forward_transient_bytes = {1000, 0};
  const Sequence sequence = {Keep(0), Save(1), kL, Back(1), Save(0), Back(0)};
  // Fe_0 is after B_1: the gradient of act[1] is live, act[1] is gone.
  EXPECT_EQ(Good(chain, sequence).peak_bytes, 10 + 100 + 1000 + 20);
  chain.forward_communication_bytes = {500, 0};
  EXPECT_EQ(Good(chain, sequence).peak_bytes, 10 + 100 + 1500 + 20);
  // With everything saved no gradient is live yet, but saved[0] is no more.
  EXPECT_EQ(Good(chain, {Save(0), Save(1), kL, Back(1), Back(0)}).peak_bytes,
            10 + 100 + 1500);
}

TEST(ReplayTest, BackwardCountsGradientAndTransient) {
  Chain chain = TwoStages();
  chain.backward_transient_bytes = {1000, 0};
  const Sequence sequence = {Save(0), Save(1), kL, Back(1), Back(0)};
  EXPECT_EQ(Good(chain, sequence).peak_bytes, 10 + 100 + 20 + 1000);
  chain.backward_communication_bytes = {7, 0};
  chain.backward_communication = {Picoseconds(5), Picoseconds(0)};
  EXPECT_EQ(Good(chain, sequence).peak_bytes, 10 + 100 + 20 + 1007);
  EXPECT_EQ(Good(chain, sequence).makespan, Picoseconds(1038));
}

TEST(ReplayTest, InputCountsFromTheFirstMoment) {
  Chain chain = TwoStages();
  chain.act_bytes[0] = 1'000'000;
  EXPECT_EQ(Good(chain, {Save(0), Save(1), kL, Back(1), Back(0)}).peak_bytes,
            1'000'000 + 405);
}

TEST(ReplayTest, PlainCopyBesideSavedCountsOnce) {
  Chain chain = TwoStages();
  chain.backward_transient_bytes = {0, 1000};
  // act[1] is stored plainly when saved[0], which includes it, appears.
  EXPECT_EQ(
      Good(chain, {Keep(0), Save(0), Save(1), kL, Back(1), Back(0)}).peak_bytes,
      10 + 100 + 300 + 5 + 1000);
}

TEST(ReplayTest, RepeatedForwardPaysItsCommunication) {
  Chain chain = TwoStages();
  chain.forward_communication = {Picoseconds(100), Picoseconds(0)};
  EXPECT_EQ(
      Good(chain, {Keep(0), Save(1), kL, Back(1), Save(0), Back(0)}).makespan,
      Picoseconds(1234));
}

TEST(ReplayTest, DropFreesOnlyThePlainCopy) {
  const Chain chain = TwoStages();
  // act[1] is in saved[0]: Fn_1 leaves it, so Fe_1 still has its input.
  Good(chain, {Save(0), Drop(1), Save(1), kL, Back(1), Back(0)});
  EXPECT_THAT(Bad(chain, {Keep(0), Drop(1), Save(1)}),
              HasSubstr("operation 2, Fe_1, cannot run: its input, act[1]"));
}

TEST(ReplayTest, LossOnAPlainCopyStaysUntilItsBackward) {
  const Chain chain = TwoStages();
  // Fe_1: act[0], act[1], the plain act[2], its gradient and saved[1].
  EXPECT_EQ(
      Good(chain, {Keep(0), Keep(1), kL, Save(1), Back(1), Save(0), Back(0)})
          .peak_bytes,
      10 + 20 + 5 + 5 + 300);
}

TEST(ReplayTest, NamesTheOperationThatCannotRun) {
  const Chain chain = TwoStages();
  EXPECT_THAT(Bad(chain, {Save(1)}), HasSubstr("operation 0, Fe_1"));
  EXPECT_THAT(Bad(chain, {Save(2)}), HasSubstr("no such stage"));
  EXPECT_THAT(Bad(chain, {Back(-1)}), HasSubstr("no such stage"));
  EXPECT_THAT(Bad(chain, {kL}), HasSubstr("operation 0, L, cannot run"));
  EXPECT_THAT(Bad(chain, {Save(0), Save(1), Back(1)}),
              HasSubstr("L comes first"));
  EXPECT_THAT(Bad(chain, {Save(0), Save(1), kL, kL}),
              HasSubstr("taken before"));
  EXPECT_THAT(Bad(chain, {Save(0), Save(1), kL, Back(0)}),
              HasSubstr("is for B_1"));
  EXPECT_THAT(Bad(chain, {Save(0), Keep(1), kL, Back(1)}),
              HasSubstr("operation 3, B_1, cannot run: saved[1]"));
  EXPECT_THAT(Bad(chain, {Keep(0), Save(1), Drop(1), kL, Back(1)}),
              HasSubstr("the stage's input, act[1]"));
  EXPECT_THAT(Bad(chain, {Save(0), Save(1), kL, Back(1)}),
              HasSubstr("ends before B_0"));
  EXPECT_THAT(Bad(chain, {Save(0), Save(1), kL, Back(1), Back(0), Back(0)}),
              HasSubstr("every backward is done"));
}

TEST(ReplayTest, RefusesTimesBeyondSixtyThreeBits) {
  Chain chain = TwoStages();
  chain.forward[0] = problem::kMaxTime / 2;
  Sequence sequence(20, Keep(0));
  EXPECT_EQ(Replay(chain, sequence).status().code(),
            absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace meshwright::checkpoint
