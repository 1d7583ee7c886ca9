#include "planner/ilp/highs_in_child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace meshwright::ilp {
namespace {

// Between two looks at the stop of a deadline.
constexpr std::chrono::milliseconds kLook{2};

// What the child writes: this, the values, and the sentence of an error.
struct Header {
  bool is_finished = false;
  bool is_infeasible = false;
  double bound = 0;
  uint64_t values = 0;
  uint64_t error_bytes = 0;  // 0: an answer
};

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  const int number_;
};

void WriteAll(int file, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = write(file, at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody reads
    at += written;
    bytes -= static_cast<size_t>(written);
  }
}

void WriteAnswer(int file, const absl::StatusOr<HighsAnswer>& answer) {
  Header header;
  std::string error;
  if (answer.ok()) {
    header.is_finished = answer->is_finished;
    header.is_infeasible = answer->is_infeasible;
    header.bound = answer->bound;
    if (answer->values.has_value()) header.values = answer->values->size();
  } else {
    error = std::string(answer.status().message());
    header.error_bytes = error.size();
  }
  WriteAll(file, &header, sizeof(header));
  if (header.values > 0) {
    WriteAll(file, answer->values->data(), header.values * sizeof(double));
  }
  WriteAll(file, error.data(), error.size());
}

// The end of the pipe does not say so: a child that another thread forks may
// hold it open for a moment.
bool IsWhole(const std::vector<char>& bytes) {
  Header header;
  if (bytes.size() < sizeof(header)) return false;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return bytes.size() ==
         sizeof(header) + header.values * sizeof(double) + header.error_bytes;
}

// Nothing if it is cut off.
std::optional<absl::StatusOr<HighsAnswer>> ParseAnswer(
    const std::vector<char>& bytes) {
  if (!IsWhole(bytes)) return std::nullopt;
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const char* const rest = bytes.data() + sizeof(header);
  if (header.error_bytes > 0) {
    return absl::InternalError(std::string(rest, header.error_bytes));
  }
  HighsAnswer answer{.is_finished = header.is_finished,
                     .is_infeasible = header.is_infeasible,
                     .bound = header.bound};
  if (header.values > 0) {
    std::memcpy(answer.values.emplace(header.values).data(), rest,
                header.values * sizeof(double));
  }
  return answer;
}

class Child {
 public:
  Child(pid_t process, int answer, int stop)
      : process_(process), answer_(answer), stop_(std::in_place, stop) {}
  ~Child() {
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Reads until the answer ends; false if `deadline` passes before.
  bool ReadUntil(const base::Deadline& deadline) {
    while (true) {
      const double left = std::min(deadline.RemainingSeconds() * 1e3,
                                   static_cast<double>(kLook.count()));
      pollfd file{.fd = answer_.number(), .events = POLLIN};
      const int ready = poll(&file, 1, static_cast<int>(std::ceil(left)));
      if (ready > 0) {
        char part[1 << 16];
        const ssize_t count = read(answer_.number(), part, sizeof(part));
        if (count > 0) bytes_.insert(bytes_.end(), part, part + count);
        if (count == 0 || IsWhole(bytes_)) return true;
        if (count < 0 && errno != EINTR) return true;
      } else if (deadline.HasPassed()) {
        return false;
      }
    }
  }

  // The child sees that nobody holds the other end.
  void AskToStop() { stop_.reset(); }
  const std::vector<char>& bytes() const { return bytes_; }

 private:
  const pid_t process_;
  const Descriptor answer_;
  std::optional<Descriptor> stop_;
  std::vector<char> bytes_;
};

// What the process has open, sockets and other pipes among it, is not the
// child's.
void CloseAllBut(int a, int b) {
  const unsigned first = static_cast<unsigned>(std::min(a, b));
  const unsigned last = static_cast<unsigned>(std::max(a, b));
  if (first > STDERR_FILENO + 1) close_range(STDERR_FILENO + 1, first - 1, 0);
  if (last > first + 1) close_range(first + 1, last - 1, 0);
  close_range(last + 1, ~0U, 0);
}

// In the child. The time of its deadline is the caller's; a stop comes when the
// other end of `stop` is closed.
[[noreturn]] void RunAndLeave(const Linearization& linear,
                              const HighsOptions& options, int answer,
                              int stop) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_IGN);  // the caller's to answer
  std::signal(SIGTERM, SIG_DFL);
  CloseAllBut(answer, stop);
  HighsOptions own = options;
  own.deadline.stop = {};
  own.is_stopped = [stop] {
    pollfd file{.fd = stop, .events = POLLIN};
    return poll(&file, 1, 0) > 0;
  };
  WriteAnswer(answer, RunHighs(linear, own));
  _exit(0);
}

}  // namespace

absl::StatusOr<HighsAnswer> RunHighsInChild(const Linearization& linear,
                                            const HighsOptions& options) {
  if (!options.deadline.IsPossible()) return RunHighs(linear, options);
  int answer[2];
  int stop[2];
  if (pipe2(answer, O_CLOEXEC) != 0) {
    return absl::InternalError("no pipe for the solver's answer");
  }
  if (pipe2(stop, O_CLOEXEC) != 0) {
    close(answer[0]);
    close(answer[1]);
    return absl::InternalError("no pipe to stop the solver");
  }
  const pid_t process = fork();
  if (process == 0) RunAndLeave(linear, options, answer[1], stop[0]);
  close(answer[1]);
  close(stop[0]);
  if (process < 0) {
    close(answer[0]);
    close(stop[1]);
    return absl::InternalError(
        absl::StrCat("no process for the solver: ", std::strerror(errno)));
  }
  Child child(process, answer[0], stop[1]);
  if (!child.ReadUntil(options.deadline)) {
    child.AskToStop();
    const auto soon = base::Deadline::Clock::now() + kGrace;
    if (!child.ReadUntil({.at = soon})) return HighsAnswer{};
  }
  auto read = ParseAnswer(child.bytes());
  if (read.has_value()) return *std::move(read);
  return absl::InternalError("the solver ended without an answer");
}

}  // namespace meshwright::ilp
