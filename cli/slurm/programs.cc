#include "cli/slurm/programs.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace meshwright::cli {
namespace {

constexpr int kNotThere = 127;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) {
    pointers.push_back(const_cast<char*>(text.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// This process's, but for variables that are given anew.
std::vector<std::string> AddToEnvironment(
    const std::vector<std::string>& variables) {
  std::vector<std::string> all = variables;
  for (char** it = environ; *it != nullptr; ++it) {
    const std::string_view old = *it;
    const std::string_view name = old.substr(0, old.find('=') + 1);
    if (std::none_of(
            variables.begin(), variables.end(),
            [&](const std::string& one) { return one.starts_with(name); })) {
      all.emplace_back(old);
    }
  }
  return all;
}

absl::Status NoProcess(const std::string& program) {
  return absl::InternalError(
      absl::StrCat("cannot start ", program, ": ", std::strerror(errno)));
}

struct Wiring {
  bool own_group = false;
  int out = -1;  // becomes its stdout
};

// The child's half calls nothing that takes a lock.
pid_t Fork(const std::vector<std::string>& arguments,
           const std::vector<std::string>& environment, const Wiring& wiring) {
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> variables = Pointers(environment);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kNotThere);
  if (wiring.own_group) setpgid(0, 0);
  if (wiring.out >= 0) dup2(wiring.out, STDOUT_FILENO);
  execvpe(argv[0], argv.data(), variables.data());
  _exit(kNotThere);
}

int ToExitStatus(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunningProgram>> RunningProgram::Start(
    const std::vector<std::string>& arguments,
    const std::vector<std::string>& variables, bool own_group) {
  std::unique_ptr<RunningProgram> program(new RunningProgram);
  Wiring wiring;
  wiring.own_group = own_group;
  program->pid_ = Fork(arguments, AddToEnvironment(variables), wiring);
  if (program->pid_ < 0) return NoProcess(arguments[0]);
  program->ended_ = static_cast<int>(syscall(SYS_pidfd_open, program->pid_, 0));
  if (program->ended_ < 0) return NoProcess(arguments[0]);
  return program;
}

RunningProgram::~RunningProgram() {
  if (!status_.has_value() && pid_ > 0) {
    Signal(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (ended_ >= 0) close(ended_);
}

std::optional<int> RunningProgram::AwaitEnd(absl::Duration patience) {
  if (status_.has_value()) return status_;
  pollfd end = {ended_, POLLIN, 0};
  if (poll(&end, 1, static_cast<int>(absl::ToInt64Milliseconds(patience))) !=
      1) {
    return std::nullopt;
  }
  int status = 0;
  if (waitpid(pid_, &status, 0) == pid_) status_ = ToExitStatus(status);
  return status_;
}

void RunningProgram::Signal(int signal) {
  if (!status_.has_value()) kill(pid_, signal);
}

absl::StatusOr<std::string> RunProgram(
    const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return NoProcess(arguments[0]);
  Wiring wiring;
  wiring.out = ends[1];
  const pid_t child = Fork(arguments, AddToEnvironment({}), wiring);
  close(ends[1]);
  std::string text;
  char bytes[4096];
  while (child > 0) {
    const ssize_t size = read(ends[0], bytes, sizeof(bytes));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    text.append(bytes, static_cast<size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    return NoProcess(arguments[0]);
  }
  if (status != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        arguments[0],
        ToExitStatus(status) == kNotThere
            ? " is not in PATH; a node of Slurm has it"
            : absl::StrCat(" ended with status ", ToExitStatus(status),
                           "; its message says why")));
  }
  return text;
}

}  // namespace meshwright::cli
