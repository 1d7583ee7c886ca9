#include "base/failpoint.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace meshwright::base {
namespace {

// The variable is read before main: each case is a process of its own, this
// program once more, which passes "a" twice, then "b" twice.
constexpr char kChild[] = "MESHWRIGHT_FAILPOINT_TEST_CHILD";

struct End {
  siginfo_t first = {};  // what became of it first
  int signal = 0;
  int status = 0;
  std::string said;

  // The last line.
  std::string Passed() const { return said.substr(said.rfind('\n') + 1); }
};

End RunChild(const std::string& variable) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    setenv("MESHWRIGHT_FAILPOINT", variable.c_str(), 1);
    setenv(kChild, "1", 1);
    execl("/proc/self/exe", "failpoint_test",
          "--gtest_filter=FailpointTest.Child", "--gtest_brief=1", nullptr);
    _exit(99);
  }
  close(ends[1]);
  End end;
  int status = 0;
  EXPECT_EQ(waitid(P_PID, child, &end.first, WEXITED | WSTOPPED | WNOWAIT), 0);
  kill(child, SIGCONT);
  char byte = 0;
  while (read(ends[0], &byte, 1) == 1) end.said += byte;
  close(ends[0]);
  EXPECT_EQ(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
  return end;
}

void Say(const char* what) { ASSERT_EQ(write(STDOUT_FILENO, what, 1), 1); }

TEST(FailpointTest, Child) {
  if (std::getenv(kChild) == nullptr) return;
  for (const char* name : {"a", "a", "b", "b"}) {
    Failpoint(name);
    Say(name);
  }
  _exit(0);
}

TEST(FailpointTest, TheProcessDiesAtThatPassOfThatStep) {
  for (const auto& [variable, passed] :
       std::vector<std::pair<std::string, std::string>>{
           {"a:1", ""}, {"a:2", "a"}, {"b:1", "aa"}, {"b:2", "aab"}}) {
    const End end = RunChild(variable);
    EXPECT_EQ(end.signal, SIGKILL) << variable;
    EXPECT_EQ(end.Passed(), passed) << variable;
  }
}

TEST(FailpointTest, AProcessThatStopsGoesOn) {
  const End end = RunChild("a:2:stop");
  EXPECT_EQ(end.first.si_code, CLD_STOPPED);
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.Passed(), "aabb");
}

TEST(FailpointTest, WithoutOneNothingHappens) {
  for (const char* variable : {"", "c:1", "a:3", "ab:1"}) {
    const End end = RunChild(variable);
    EXPECT_EQ(end.signal, 0) << variable;
    EXPECT_EQ(end.status, 0) << variable;
    EXPECT_EQ(end.Passed(), "aabb") << variable;
  }
}

TEST(FailpointTest, AVariableOfAnotherFormIsRefused) {
  for (const char* variable :
       {"a", ":1", "a:", "a:0", "a:-1", "a:b", "a:stop"}) {
    const End end = RunChild(variable);
    EXPECT_EQ(end.status, 2) << variable;
    EXPECT_NE(end.said.find("give NAME:PASS"), std::string::npos);
  }
}

}  // namespace
}  // namespace meshwright::base
