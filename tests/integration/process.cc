#include "tests/integration/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "base/file.h"

extern char** environ;

namespace meshwright::integration {

Process::Process(const std::vector<std::string>& arguments,
                 const std::vector<std::string>& variables) {
  static std::atomic<int> count = 0;
  const char* const build = std::getenv("MESHWRIGHT_BUILD_DIR");
  const std::string program =
      std::string(build != nullptr ? build : "build/dev") + "/bin/" +
      arguments[0];
  error_path_ = testing::TempDir() + "/process." + std::to_string(getpid()) +
                "." + std::to_string(count++);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  std::vector<char*> environment;
  for (const std::string& variable : variables) {
    environment.push_back(const_cast<char*>(variable.c_str()));
  }
  for (char** it = environ; *it != nullptr; ++it) environment.push_back(*it);
  environment.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  out_ = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error_path_.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int failure = posix_spawn(&pid_, program.c_str(), &actions, nullptr,
                                  argv.data(), environment.data());
  EXPECT_EQ(failure, 0) << "cannot start " << program;
  if (failure != 0) pid_ = -1;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
}

Process::~Process() {
  if (pid_ > 0) {
    Signal(SIGKILL);
    Wait();
  }
  if (out_ >= 0) close(out_);
  unlink(error_path_.c_str());
}

std::string Process::ReadLine() {
  std::string line;
  char byte = 0;
  while (read(out_, &byte, 1) == 1 && byte != '\n') line += byte;
  return line;
}

void Process::Signal(int signal) {
  if (pid_ > 0) kill(pid_, signal);
}

bool Process::AwaitStopped() {
  siginfo_t became = {};
  return waitid(P_PID, pid_, &became, WEXITED | WSTOPPED | WNOWAIT) == 0 &&
         became.si_code == CLD_STOPPED;
}

int Process::Wait() {
  int status = 0;
  if (pid_ < 0 || waitpid(pid_, &status, 0) != pid_) return -1000;
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string Process::Errors() {
  return base::ReadFile(error_path_).value_or("");
}

}  // namespace meshwright::integration
