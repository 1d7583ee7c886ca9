#include "worker/sandbox/progress_page.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace meshwright::worker::sandbox {
namespace {

TEST(ProgressPageTest, TheParentSeesWhatTheChildWasAtWhenItDied) {
  const auto page = ProgressPage::Make();
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ((*page)->runs(), 0);
  EXPECT_FALSE((*page)->program().has_value());
  const pid_t child = fork();
  if (child == 0) {
    auto mine = ProgressPage::Open(dup((*page)->file()));
    if (!mine.ok()) _exit(1);
    (*mine)->EndCompile();
    (*mine)->BeginRun(3);
    (*mine)->BeginRun(0);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_EQ((*page)->compiled(), 1);
  EXPECT_EQ((*page)->runs(), 2);
  EXPECT_EQ((*page)->program(), 0);
  (*page)->BeginOtherRun();
  EXPECT_EQ((*page)->program(), ProgressPage::kOther);
  EXPECT_EQ((*page)->runs(), 3) << "a sign of life";
  (*page)->EndRuns();
  EXPECT_FALSE((*page)->program().has_value());
}

TEST(ProgressPageTest, NoFileIsNoPage) {
  EXPECT_FALSE(ProgressPage::Open(-1).ok());
}

}  // namespace
}  // namespace meshwright::worker::sandbox
