#include "worker/sandbox/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace meshwright::worker::sandbox {
namespace {

using testing::EndsWith;
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
  reason = (*child)->Reap();
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
