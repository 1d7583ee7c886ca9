#include "profiledb/tables/group_commit.h"

#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

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

}  // namespace
}  // namespace meshwright::tables
