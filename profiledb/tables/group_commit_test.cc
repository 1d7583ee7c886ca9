#include "profiledb/tables/group_commit.h"

#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <thread>
#include <vector>

#include "profiledb/store/away.h"

namespace meshwright::tables {
namespace {

TEST(GroupCommitTest, WritersThatWaitShareATransaction) {
  std::vector<int> sizes;
  std::latch first_runs{1};
  std::latch go_on{1};
  int works = 0;
  GroupCommit commits([&](const GroupCommit::Work& work) {
    const int before = works;
    const absl::Status status = work();
    sizes.push_back(works - before);
    return status;
  });
  std::thread leader([&] {
    EXPECT_TRUE(commits
                    .Write([&] {
                      ++works;
                      first_runs.count_down();
                      go_on.wait();
                      return absl::OkStatus();
                    })
                    .ok());
  });
  first_runs.wait();
  std::vector<std::thread> others;
  for (int i = 0; i < 8; ++i) {
    others.emplace_back([&] {
      EXPECT_TRUE(commits
                      .Write([&] {
                        ++works;
                        return absl::OkStatus();
                      })
                      .ok());
    });
  }
  go_on.count_down();
  leader.join();
  for (std::thread& thread : others) thread.join();
  EXPECT_EQ(works, 9);
  EXPECT_EQ(sizes.front(), 1);
  EXPECT_LE(sizes.size(), 9);
}

TEST(GroupCommitTest, AFailureIsReturnedAndTheNextGoesOn) {
  GroupCommit commits([](const GroupCommit::Work& work) { return work(); });
  EXPECT_EQ(
      commits.Write([] { return absl::ResourceExhaustedError("full"); }).code(),
      absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(commits.Write([] { return absl::OkStatus(); }).ok());
}

// Writes works that wait for each other in one transaction, behind a first one.
std::vector<absl::Status> WriteTogether(
    GroupCommit& commits, const std::vector<GroupCommit::Work>& works) {
  std::vector<absl::Status> statuses(works.size());
  std::latch first_runs{1};
  std::latch go_on{1};
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    EXPECT_TRUE(commits
                    .Write([&] {
                      first_runs.count_down();
                      go_on.wait();
                      return absl::OkStatus();
                    })
                    .ok());
  });
  first_runs.wait();
  for (size_t i = 0; i < works.size(); ++i) {
    threads.emplace_back([&, i] { statuses[i] = commits.Write(works[i]); });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  go_on.count_down();
  for (std::thread& thread : threads) thread.join();
  return statuses;
}

TEST(GroupCommitTest, AFailureLeavesTheOthersOfItsTransactionAlone) {
  int rows = 0;
  GroupCommit commits([&](const GroupCommit::Work& work) {
    const int before = rows;
    const absl::Status status = work();
    if (!status.ok()) rows = before;  // rolled back
    return status;
  });
  const auto add = [&] {
    ++rows;
    return absl::OkStatus();
  };
  const auto fail = [&] {
    ++rows;
    return absl::InvalidArgumentError("no such text");
  };
  const auto statuses =
      WriteTogether(commits, {add, fail, add, fail, add, add});
  for (size_t i = 0; i < statuses.size(); ++i) {
    EXPECT_EQ(absl::IsInvalidArgument(statuses[i]), i == 1 || i == 3)
        << i << ": " << statuses[i];
  }
  EXPECT_EQ(rows, 4);
}

TEST(GroupCommitTest, AStoreThatIsAwayIsAskedOnce) {
  int transactions = 0;
  GroupCommit commits([&](const GroupCommit::Work& work) {
    ++transactions;
    return work();
  });
  const auto away = [] {
    return store::MarkAway(absl::ResourceExhaustedError("full"));
  };
  for (const absl::Status& status :
       WriteTogether(commits, {away, away, away, away})) {
    EXPECT_TRUE(store::IsAway(status)) << status;
  }
  EXPECT_LE(transactions, 3);  // with the first one; a late one may be alone
}

}  // namespace
}  // namespace meshwright::tables
