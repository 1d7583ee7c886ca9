#include "worker/sandbox/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "worker/sandbox/undead.h"

namespace meshwright::worker::sandbox {
namespace {

constexpr size_t kMessagesKept = 16 * 1024;

// A pipe whose writing end stays clear of the child's files 0 to 4.
bool MakePipe(int& reader, int& writer) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  reader = ends[0];
  writer = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
  close(ends[1]);
  fcntl(reader, F_SETFL, O_NONBLOCK);
  return writer >= 0;
}

// Reads what is there; false at the end of the stream.
bool Drain(int file, std::string& content) {
  char buffer[1 << 16];
  while (true) {
    const ssize_t size = read(file, buffer, sizeof(buffer));
    if (size > 0) {
      content.append(buffer, size);
    } else if (size == 0) {
      return false;
    } else if (errno != EINTR) {
      return true;
    }
  }
}

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);  // and a null
  for (const std::string& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// The last line that is no chatter of XLA's own log.
std::string LastMessage(absl::string_view messages) {
  std::string last;
  for (const absl::string_view line : absl::StrSplit(messages, '\n')) {
    const bool chatter = absl::StartsWith(line, "I0000 ") ||
                         absl::StartsWith(line, "W0000 ") ||
                         absl::StartsWith(line, "WARNING: All log messages");
    if (!line.empty() && !chatter) last = std::string(line);
  }
  return last;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Spawn(
    const std::vector<std::string>& arguments,
    const std::vector<std::string>& environment, int shared_file, int input) {
  std::unique_ptr<ChildProcess> child(new ChildProcess());
  int results = -1;
  int messages = -1;
  if (!MakePipe(child->results_, results) ||
      !MakePipe(child->messages_, messages)) {
    const absl::Status status =
        absl::ErrnoToStatus(errno, "cannot make a pipe to the runner");
    if (results >= 0) close(results);
    return status;
  }
  const std::vector<char*> values = Pointers(arguments);
  const std::vector<char*> variables = Pointers(environment);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (input >= 0) {
    posix_spawn_file_actions_adddup2(&files, input, 0);
  } else {
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&files, messages, 1);
  posix_spawn_file_actions_adddup2(&files, messages, 2);
  posix_spawn_file_actions_adddup2(&files, results, 3);
  if (shared_file >= 0) {
    posix_spawn_file_actions_adddup2(&files, shared_file, kSharedFile);
  }
  // Not all that libraries open here closes itself.
  posix_spawn_file_actions_addclosefrom_np(
      &files, shared_file >= 0 ? kSharedFile + 1 : kSharedFile);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawn(&child->pid_, values[0], &files, &attributes,
                                values.data(), variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  close(results);
  close(messages);
  if (error != 0) {
    child->pid_ = 0;
    return absl::ErrnoToStatus(
        error, absl::StrCat("cannot start the runner ", arguments[0]));
  }
  return child;
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0 && !reaped_) {
    Kill();
    Reap().IgnoreError();
  }
  if (results_ >= 0) close(results_);
  if (messages_ >= 0) close(messages_);
}

absl::StatusOr<ChildProcess::Heard> ChildProcess::Listen(absl::Time deadline,
                                                         int wake) {
  pollfd files[3] = {
      {results_, POLLIN, 0}, {messages_, POLLIN, 0}, {wake, POLLIN, 0}};
  const base::SteadyClock clock;
  while (true) {
    int timeout_ms = -1;
    if (deadline != absl::InfiniteFuture()) {
      // Rounded up, so that a poll never ends just before the deadline.
      timeout_ms = static_cast<int>(std::clamp<int64_t>(
          absl::ToInt64Milliseconds(deadline - clock.Now()) + 1, 0, 1 << 30));
    }
    const int ready = poll(files, 3, timeout_ms);
    if (ready < 0 && errno != EINTR) {
      return absl::ErrnoToStatus(errno, "cannot wait for the runner");
    }
    Heard heard;
    if (files[1].revents != 0) {
      ReadMessages();
      // Its end alone says nothing; stop looking, or poll would spin.
      if ((files[1].revents & POLLHUP) != 0) files[1].fd = -1;
    }
    heard.woken = ready > 0 && files[2].revents != 0;
    if (ready > 0 && files[0].revents != 0) {
      heard.ended = !Drain(results_, heard.results);
      return heard;
    }
    if (heard.woken) return heard;
    if (clock.Now() >= deadline) {
      heard.late = true;
      return heard;
    }
  }
}

void ChildProcess::ReadMessages() {
  Drain(messages_, messages_kept_);
  // Results are UTF-8, which these need not be and a cut may spoil.
  std::replace_if(
      messages_kept_.begin(), messages_kept_.end(),
      [](char c) { return c == '\0' || (c & 0x80) != 0; }, '?');
  if (messages_kept_.size() > kMessagesKept) {
    messages_kept_.erase(0, messages_kept_.size() - kMessagesKept);
  }
}

void ChildProcess::Kill() { kill(pid_, SIGKILL); }

bool ChildProcess::AwaitEnd(absl::Duration patience, int* status) {
  const base::SteadyClock clock;
  const absl::Time deadline = clock.Now() + patience;
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  bool has_ended = false;
  while (!has_ended) {
    const pid_t reaped = waitpid(pid_, status, WNOHANG);
    has_ended = reaped == pid_ || (reaped < 0 && errno == ECHILD);
    const int64_t left_ms = absl::ToInt64Milliseconds(deadline - clock.Now());
    if (has_ended || left_ms <= 0) break;
    // Without such a file (an old kernel) it is looked at now and then.
    pollfd file = {process, POLLIN, 0};
    poll(&file, 1, static_cast<int>(process >= 0 ? left_ms : 10));
  }
  if (process >= 0) close(process);
  return has_ended;
}

absl::StatusOr<std::string> ChildProcess::Reap(absl::Duration patience) {
  int status = 0;
  reaped_ = true;
  if (!AwaitEnd(patience, &status)) {
    Kill();
    if (!AwaitEnd(patience, &status)) {
      AddUndead(pid_);
      return absl::AbortedError(
          absl::StrCat("the runner, process ", pid_, ", does not die"));
    }
  }
  ReadMessages();
  std::string reason;
  if (WIFSIGNALED(status)) {
    end_signal_ = WTERMSIG(status);
    const char* name = sigabbrev_np(end_signal_);
    reason = absl::StrCat("killed by SIG", name == nullptr ? "?" : name);
  } else if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    reason = absl::StrCat("ended with status ", WEXITSTATUS(status));
  } else {
    return reason;
  }
  const std::string message = LastMessage(messages_kept_);
  if (!message.empty()) absl::StrAppend(&reason, ": ", message);
  return reason;
}

}  // namespace meshwright::worker::sandbox
