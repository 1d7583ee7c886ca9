#include "worker/comm/protocol/transfer_steps.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "worker/comm/protocol/transfer.h"

namespace meshwright::worker::comm {
namespace {

Plan Hosts(int hosts, int per_node) {
  Plan plan;
  plan.link = {1e-5, 1e-9};
  for (int i = 0; i < hosts; ++i) {
    plan.hosts.push_back({absl::StrCat("h", i), absl::StrCat("h:", i + 1),
                          absl::StrCat("n", i / per_node)});
  }
  return plan;
}

Task SliceTo(std::vector<int> receivers, Strategy strategy, int64_t bytes) {
  return {"slice", bytes, 0, std::move(receivers), strategy};
}

TEST(TransferStepsTest, ThePaperFigureThree) {
  const Plan plan = Hosts(5, 1);
  const std::vector<TransferStep> send = {{0, 1, 0, 8}, {0, 2, 0, 8}};
  EXPECT_EQ(MakeTransferSteps(plan, SliceTo({1, 2}, Strategy::kSendReceive, 8)),
            send);
  const std::vector<TransferStep> chain = {{0, 2, 0, 8}, {2, 1, 0, 8}};
  EXPECT_EQ(MakeTransferSteps(plan, SliceTo({2, 1}, Strategy::kBroadcast, 8)),
            chain);
  const std::vector<TransferStep> gather = {
      {0, 1, 0, 3}, {0, 2, 3, 3}, {0, 3, 6, 2},   // parts
      {1, 2, 0, 3}, {2, 3, 3, 3}, {3, 1, 6, 2},   // each its own
      {1, 2, 6, 2}, {2, 3, 0, 3}, {3, 1, 3, 3}};  // and the one before
  EXPECT_EQ(MakeTransferSteps(
                plan, SliceTo({1, 2, 3}, Strategy::kGlobalAllGather, 8)),
            gather);
}

TEST(TransferStepsTest, LocalAllGatherStaysWithinTheNodes) {
  const Plan plan = Hosts(6, 2);  // nodes {0,1} {2,3} {4,5}
  const std::vector<TransferStep> steps = {
      {0, 2, 0, 4}, {0, 3, 4, 4}, {2, 3, 0, 4}, {3, 2, 4, 4},
      {0, 4, 0, 4}, {0, 5, 4, 4}, {4, 5, 0, 4}, {5, 4, 4, 4}};
  EXPECT_EQ(MakeTransferSteps(
                plan, SliceTo({2, 4, 3, 5}, Strategy::kLocalAllGather, 8)),
            steps);
}

TEST(TransferStepsTest, AChainEntersEachNodeOnceAndItsSendersFirst) {
  const Plan plan = Hosts(6, 2);
  const std::vector<int> order = {1, 4, 5, 2, 3};
  EXPECT_EQ(OrderChain(plan, SliceTo({4, 2, 1, 5, 3}, Strategy::kBroadcast, 1)),
            order);
}

// Replays a task with Transfers alone: chunks go as soon as they can, from
// ranks in random turns.
class Replay {
 public:
  Replay(const Plan& plan, const Task& task, std::mt19937& random)
      : plan_(plan), task_(task), random_(random) {
    for (int64_t i = 0; i < task.size_bytes; ++i) {
      source_.push_back(static_cast<std::byte>(random()));
    }
    transfers_.emplace(
        0, Transfer(plan, task, 0, std::span<const std::byte>(source_)));
    for (const int receiver : task.receivers) {
      auto& staging = staging_[receiver];
      staging.resize(source_.size());
      transfers_.emplace(receiver, Transfer(plan, task, receiver,
                                            std::span<std::byte>(staging)));
    }
  }

  void Run() {
    std::vector<int> ranks = {0};
    ranks.insert(ranks.end(), task_.receivers.begin(), task_.receivers.end());
    for (bool moved = true; moved;) {
      moved = false;
      std::shuffle(ranks.begin(), ranks.end(), random_);
      for (const int rank : ranks) moved |= Step(rank);
    }
    const uint64_t sum = transfers_.at(0).Checksum();
    for (auto& [rank, transfer] : transfers_) {
      EXPECT_TRUE(transfer.all_sent()) << rank;
      EXPECT_TRUE(transfer.all_here()) << rank;
      EXPECT_EQ(transfer.Checksum(), sum);
      EXPECT_EQ(transfer.received_bytes(), rank == 0 ? 0 : task_.size_bytes);
    }
    for (const auto& [rank, bytes] : staging_) EXPECT_EQ(bytes, source_);
  }

 private:
  bool Step(int rank) {
    const std::optional<Chunk> chunk = transfers_.at(rank).Next();
    if (!chunk.has_value()) return false;
    Transfer& other = transfers_.at(chunk->to);
    const auto bytes = static_cast<uint32_t>(chunk->bytes.size());
    const auto place = other.Expect(
        rank, chunk->step, static_cast<uint64_t>(chunk->offset), bytes);
    EXPECT_TRUE(place.ok()) << place.status();
    if (!place.ok()) return false;
    std::ranges::copy(chunk->bytes, place->begin());
    other.Arrived(chunk->step, bytes);
    transfers_.at(rank).Sent(*chunk);
    return true;
  }

  const Plan& plan_;
  const Task& task_;
  std::mt19937& random_;
  std::vector<std::byte> source_;
  std::map<int, std::vector<std::byte>> staging_;
  std::map<int, Transfer> transfers_;
};

TEST(TransferStepsTest, EveryReceiverGetsEveryByteOnceUnderEveryStrategy) {
  std::mt19937 random(6);
  for (int round = 0; round < 400; ++round) {
    const int hosts = 2 + static_cast<int>(random() % 8);
    const Plan plan = Hosts(hosts, 1 + static_cast<int>(random() % 3));
    std::vector<int> receivers;
    for (int i = 1; i < hosts; ++i) receivers.push_back(i);
    std::shuffle(receivers.begin(), receivers.end(), random);
    receivers.resize(1 + random() % receivers.size());
    Task task = SliceTo(receivers, static_cast<Strategy>(random() % 4),
                        1 + static_cast<int64_t>(random() % 60));
    task.chunks = 1 + static_cast<int64_t>(random() % task.size_bytes);
    SCOPED_TRACE(absl::StrCat(NameStrategy(task.strategy), " to ",
                              receivers.size(), ", ", task.size_bytes,
                              " bytes in ", task.chunks));
    Replay(plan, task, random).Run();
  }
}

TEST(TransferTest, ChunksThatDoNotContinueAStepAreRefused) {
  const Plan plan = Hosts(3, 1);
  Task task = SliceTo({1, 2}, Strategy::kBroadcast, 100);
  std::vector<std::byte> staging(100);
  Transfer transfer(plan, task, 1, std::span<std::byte>(staging));
  EXPECT_TRUE(transfer.Expect(0, 0, 0, 40).ok());
  transfer.Arrived(0, 40);
  for (const auto& [from, step, offset, bytes] :
       {std::tuple(2, 0u, 40ull, 10u),  // of another host
        std::tuple(0, 1u, 40ull, 10u),  // of the step to the next
        std::tuple(0, 9u, 40ull, 10u),  // of no step
        std::tuple(0, 0u, 0ull, 40u),   // again
        std::tuple(0, 0u, 50ull, 10u),  // with a gap
        std::tuple(0, 0u, 40ull, 0u),   // of nothing
        std::tuple(0, 0u, 40ull, 61u),  // beyond the end
        std::tuple(0, 0u, ~0ull, 10u)}) {
    EXPECT_EQ(transfer.Expect(from, step, offset, bytes).status().code(),
              absl::StatusCode::kDataLoss);
  }
  EXPECT_TRUE(transfer.Expect(0, 0, 40, 60).ok());
  EXPECT_EQ(transfer.Midway(), std::vector<int>{0});
}

}  // namespace
}  // namespace meshwright::worker::comm
