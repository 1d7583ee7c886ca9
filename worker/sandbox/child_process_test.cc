#include "worker/sandbox/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/clock.h"
#include "worker/sandbox/undead.h"

namespace meshwright::worker::sandbox {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Runs it to its end.
std::unique_ptr<ChildProcess> RunScript(const std::string& script,
                                        std::string& reason) {
  auto child = ChildProcess::Spawn({"/bin/sh", "-c", script}, {});
  EXPECT_TRUE(child.ok()) << child.status();
  const int never = eventfd(0, EFD_CLOEXEC);
  while (true) {
    const auto heard = (*child)->Listen(absl::InfiniteFuture(), never);
    EXPECT_TRUE(heard.ok()) << heard.status();
    if (!heard.ok() || heard->ended) break;
  }
  close(never);
  const auto end = (*child)->Reap();
  EXPECT_TRUE(end.ok()) << end.status();
  reason = end.value_or("");
  return *std::move(child);
}

TEST(ChildProcessTest, WhatADeadChildPrintedIsKept) {
  std::string reason;
  const auto child = RunScript(
      "echo one; echo 'Check failed: two' >&2; kill -ABRT $$", reason);
  EXPECT_EQ(reason, "killed by SIGABRT: Check failed: two");
  EXPECT_EQ(child->messages(), "one\nCheck failed: two\n");
}

TEST(ChildProcessTest, BytesThatAreNoTextBecomeQuestionMarks) {
  std::string reason;
  const auto child = RunScript("printf 'a\\377b\\0c'; exit 3", reason);
  EXPECT_EQ(reason, "ended with status 3: a?b?c");
}

// On the wall clock the deadline would have been decades ago.
TEST(ChildProcessTest, ADeadlineGoesByTheSteadyClock) {
  const auto child = ChildProcess::Spawn({"/bin/sh", "-c", "echo one >&3"}, {});
  ASSERT_TRUE(child.ok()) << child.status();
  const int never = eventfd(0, EFD_CLOEXEC);
  const auto heard =
      (*child)->Listen(base::SteadyClock().Now() + absl::Hours(1), never);
  close(never);
  ASSERT_TRUE(heard.ok()) << heard.status();
  EXPECT_FALSE(heard->late);
  EXPECT_EQ(heard->results, "one\n");
}

TEST(ChildProcessTest, OneThatGoesOnIsKilledWhenItIsReaped) {
  const auto child = ChildProcess::Spawn({"/bin/sleep", "1000"}, {});
  ASSERT_TRUE(child.ok()) << child.status();
  const auto end = (*child)->Reap(absl::Milliseconds(1));
  // A busy machine may need longer than that to end it.
  if (end.ok()) {
    EXPECT_EQ(*end, "killed by SIGKILL");
    EXPECT_EQ((*child)->end_signal(), SIGKILL);
  } else {
    EXPECT_EQ(end.status().code(), absl::StatusCode::kAborted);
  }
}

// Nobody can hold a process back from SIGKILL for a test; one that nobody has
// killed yet stands for it.
TEST(UndeadTest, OneThatDoesNotDieIsNamedUntilItIsGone) {
  EXPECT_THAT(DescribeUndead(), IsEmpty());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    char byte = 0;
    close(ends[1]);
    _exit(read(ends[0], &byte, 1) < 0 ? 1 : 0);
  }
  close(ends[0]);
  AddUndead(pid);
  EXPECT_THAT(DescribeUndead(), HasSubstr(std::to_string(pid)));
  EXPECT_THAT(DescribeUndead(), HasSubstr("does not die"));
  close(ends[1]);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
  EXPECT_THAT(DescribeUndead(), IsEmpty());
}

TEST(ChildProcessTest, OfMuchTheEndIsKept) {
  std::string reason;
  const auto child = RunScript(
      "i=0; while [ $i -lt 4000 ]; do echo line $i; i=$((i+1)); done; exit 3",
      reason);
  EXPECT_EQ(reason, "ended with status 3: line 3999");
  EXPECT_THAT(child->messages(), SizeIs(16 * 1024));
  EXPECT_THAT(child->messages(), EndsWith("line 3999\n"));
}

}  // namespace
}  // namespace meshwright::worker::sandbox
