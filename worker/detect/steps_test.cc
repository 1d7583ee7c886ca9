#include "worker/detect/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace meshwright::worker::detect {
namespace {

using cluster::Operation;

// Runs the schedule in lockstep with unlimited buffers. Returns how many
// rounds it takes and checks that every byte that is sent is awaited.
int CountRounds(Operation operation, int devices, int root) {
  std::vector<std::vector<Step>> steps;
  for (int rank = 0; rank < devices; ++rank) {
    steps.push_back(MakeSteps(operation, devices, rank, 1000, root));
  }
  std::vector<size_t> at(devices, 0);
  std::vector<std::vector<std::vector<int64_t>>> wire(
      devices, std::vector<std::vector<int64_t>>(devices));
  int rounds = 0;
  while (true) {
    bool moved = false;
    std::vector<int> sent(devices, 0);
    for (int rank = 0; rank < devices; ++rank) {
      if (at[rank] == steps[rank].size()) continue;
      const Step& step = steps[rank][at[rank]];
      if (step.to.has_value()) wire[rank][*step.to].push_back(step.bytes);
    }
    std::vector<int> advanced;
    for (int rank = 0; rank < devices; ++rank) {
      if (at[rank] == steps[rank].size()) continue;
      const Step& step = steps[rank][at[rank]];
      if (step.from.has_value()) {
        auto& line = wire[*step.from][rank];
        if (line.empty()) {
          // It waits: what it sends must not be sent again.
          EXPECT_FALSE(step.to.has_value());
          continue;
        }
        EXPECT_EQ(line.front(), step.bytes);
        line.erase(line.begin());
      }
      advanced.push_back(rank);
    }
    for (const int rank : advanced) {
      ++at[rank];
      moved = true;
    }
    if (!moved) break;
    ++rounds;
  }
  for (int rank = 0; rank < devices; ++rank) {
    EXPECT_EQ(at[rank], steps[rank].size()) << rank;
    for (const auto& line : wire[rank]) EXPECT_TRUE(line.empty());
  }
  return rounds;
}

TEST(StepsTest, AsManyRoundsAsTheModelCounts) {
  for (const Operation operation : cluster::kOperations) {
    for (int devices = 2; devices <= 9; ++devices) {
      if (operation == Operation::kSendReceive && devices != 2) continue;
      const double wanted = cluster::CountWork(operation, devices, 1000).steps *
                            (operation == Operation::kSendReceive ? 2 : 1);
      EXPECT_EQ(CountRounds(operation, devices, 0), wanted)
          << cluster::NameOperation(operation) << " " << devices;
    }
  }
}

TEST(StepsTest, ABroadcastReachesAllAndTheNextRootLast) {
  for (int devices = 2; devices <= 9; ++devices) {
    for (int root = 0; root < devices; ++root) {
      std::set<int> reached = {root};
      size_t last = 0;
      for (int rank = 0; rank < devices; ++rank) {
        for (const Step& step :
             MakeSteps(Operation::kBroadcast, devices, rank, 8, root)) {
          if (step.to.has_value()) reached.insert(*step.to);
        }
        last = std::max(
            last,
            MakeSteps(Operation::kBroadcast, devices, rank, 8, root).size());
      }
      EXPECT_EQ(reached.size(), static_cast<size_t>(devices));
      CountRounds(Operation::kBroadcast, devices, root);
      const int next = FindNextRoot(devices, root);
      const auto steps =
          MakeSteps(Operation::kBroadcast, devices, next, 8, root);
      ASSERT_EQ(steps.size(), 1u) << "it passes nothing on";
      EXPECT_TRUE(steps[0].from.has_value());
    }
  }
}

}  // namespace
}  // namespace meshwright::worker::detect
