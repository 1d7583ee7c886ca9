#include "worker/detect/device_sweep.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "worker/devices/machine.h"
#include "worker/pjrt/client.h"
#include "worker/pjrt/plugin.h"
#include "worker/runner/client_lock.h"

namespace meshwright::worker::detect {
namespace {

constexpr absl::Duration kLockLimit = absl::Minutes(10);
// Of a child that says nothing: opening the devices takes a minute or two.
constexpr absl::Duration kLongestSilence = absl::Minutes(5);
constexpr absl::Duration kLongestWait = absl::Minutes(15);

// ---- the child; a line for each thing that it has to say

// What the parent reads; the parent is the same program.
constexpr absl::string_view kOpen = "open";        // DEVICES
constexpr absl::string_view kWaiting = "waiting";  // for the lock
constexpr absl::string_view kBegin = "begin";      // SERIES
constexpr absl::string_view kTiming = "timing";    // BYTES SECONDS
constexpr absl::string_view kFail = "fail";        // MESSAGE, of the series
constexpr absl::string_view kEnd = "end";          // of the series
constexpr absl::string_view kRefuse = "refuse";    // CODE MESSAGE, of all
constexpr absl::string_view kAllDone = "done";

class Speaker {
 public:
  explicit Speaker(int file) : file_(file) {}
  void Say(absl::string_view word, absl::string_view more = "") const {
    const std::string line =
        absl::StrCat(word, " ", absl::StrReplaceAll(more, {{"\n", " "}}), "\n");
    size_t written = 0;
    while (written < line.size()) {
      const ssize_t now =
          write(file_, line.data() + written, line.size() - written);
      if (now < 0 && errno == EINTR) continue;
      if (now < 0) _exit(1);  // nobody hears
      written += static_cast<size_t>(now);
    }
  }

 private:
  const int file_;
};

absl::Status TimeAll(const DeviceSweepOptions& options, size_t first,
                     const Speaker& speaker) {
  if (options.platform == "cpu") devices::AvoidThreadPoolDeadlock();
  ASSIGN_OR_RETURN(const auto plugin, pjrt::Plugin::Load(options.plugin));
  ASSIGN_OR_RETURN(
      const auto client,
      pjrt::Client::Create(plugin, {options.platform, options.devices}));
  const auto count = static_cast<size_t>(client->device_count());
  if (count < 2) {
    return absl::InvalidArgumentError(
        "one device has no link; ask for two devices or more");
  }
  speaker.Say(kOpen, absl::StrCat(count));
  ASSIGN_OR_RETURN(const auto lock, runner::OpenClientLock(*client));
  RETURN_IF_ERROR(lock->Exclude(kLockLimit, [&] { speaker.Say(kWaiting); }));
  const std::vector<DeviceSeries> all = ListDeviceSeries(count);
  for (size_t i = first; i < all.size(); ++i) {
    speaker.Say(kBegin, absl::StrCat(i));
    const auto timings =
        TimeDeviceSeries(*client, all[i], options.maximum_bytes);
    if (!timings.ok()) {
      speaker.Say(kFail, timings.status().message());
      continue;
    }
    for (const cluster::GroupTiming& it : *timings) {
      speaker.Say(kTiming, absl::StrFormat("%.17g %.17g", it.timing.bytes,
                                           it.timing.seconds));
    }
    speaker.Say(kEnd);
  }
  speaker.Say(kAllDone);
  return absl::OkStatus();
}

// ---- the parent

std::string DescribeSeries(const DeviceSeries& series) {
  if (series.operation == cluster::Operation::kSendReceive) {
    return absl::StrCat("devices ", static_cast<size_t>(series.devices[0]),
                        " and ", static_cast<size_t>(series.devices[1]));
  }
  return absl::StrCat(cluster::NameOperation(series.operation), " of ",
                      series.devices.size(), " devices");
}

class Sweeper {
 public:
  explicit Sweeper(const DeviceSweepOptions& options) : options_(options) {}
  absl::StatusOr<DeviceSweep> Run();

 private:
  // How the child ended.
  absl::StatusOr<std::string> RunFrom(size_t first);
  void Listen(int from, pid_t child);
  void Hear(const std::string& line);
  void Report(const std::string& what) const {
    if (options_.report) options_.report(what);
  }

  const DeviceSweepOptions& options_;
  DeviceSweep sweep_;
  std::vector<DeviceSeries> all_;
  // Of the present child:
  std::optional<size_t> series_;               // the last that began
  bool is_over_ = false;                       // that one
  std::vector<cluster::GroupTiming> timings_;  // of the series
  absl::Status refusal_;
  bool is_done_ = false;
  bool waits_ = false;  // for other timings
};

absl::StatusOr<std::string> Sweeper::RunFrom(size_t first) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a line to a child");
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    return absl::ErrnoToStatus(error, "cannot start a child");
  }
  if (child == 0) {
    close(ends[0]);
    if (!devices::DieWith(parent)) _exit(1);
    const Speaker speaker(ends[1]);
    const absl::Status status = TimeAll(options_, first, speaker);
    if (!status.ok()) {
      speaker.Say(kRefuse, absl::StrCat(static_cast<int>(status.code()), " ",
                                        status.message()));
    }
    _exit(0);  // a plugin's threads may still run
  }
  close(ends[1]);
  series_.reset();
  timings_.clear();
  Listen(ends[0], child);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFSIGNALED(status)) {
    return absl::StrCat("with status ", WEXITSTATUS(status));
  }
  const char* const name = sigabbrev_np(WTERMSIG(status));
  return absl::StrCat("by SIG", name == nullptr ? "?" : name);
}

void Sweeper::Listen(int from, pid_t child) {
  std::string heard;
  while (true) {
    pollfd waited{.fd = from, .events = POLLIN};
    const int ready = poll(&waited, 1,
                           static_cast<int>(absl::ToInt64Milliseconds(
                               waits_ ? kLongestWait : kLongestSilence)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {  // a collective that hangs, say
      kill(child, SIGKILL);
      return;
    }
    char bytes[4096];
    const ssize_t size = read(from, bytes, sizeof(bytes));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    heard.append(bytes, static_cast<size_t>(size));
    for (size_t end = 0; (end = heard.find('\n')) != std::string::npos;
         heard.erase(0, end + 1)) {
      Hear(heard.substr(0, end));
    }
  }
}

void Sweeper::Hear(const std::string& line) {
  const std::pair<std::string, std::string> said =
      absl::StrSplit(line, absl::MaxSplits(' ', 1));
  const auto& [word, more] = said;
  waits_ = word == kWaiting;
  size_t number = 0;
  if (word == kOpen && absl::SimpleAtoi(more, &number)) {
    sweep_.devices = number;
    all_ = ListDeviceSeries(number);
  } else if (word == kWaiting) {
    Report("waiting for another timing to end");
  } else if (word == kBegin && absl::SimpleAtoi(more, &number) &&
             number < all_.size()) {
    series_ = number;
    is_over_ = false;
    timings_.clear();
    Report(absl::StrCat("timing ", DescribeSeries(all_[number])));
  } else if (word == kTiming && series_.has_value()) {
    const std::pair<std::string, std::string> figures =
        absl::StrSplit(more, ' ');
    const DeviceSeries& series = all_[*series_];
    cluster::GroupTiming& made = timings_.emplace_back();
    made.devices = series.devices;
    made.timing.operation = series.operation;
    made.timing.devices = static_cast<int64_t>(series.devices.size());
    if (!absl::SimpleAtod(figures.first, &made.timing.bytes) ||
        !absl::SimpleAtod(figures.second, &made.timing.seconds)) {
      timings_.pop_back();
    }
  } else if (word == kFail && series_.has_value()) {
    sweep_.missing.push_back({all_[*series_], more});
    is_over_ = true;
  } else if (word == kEnd) {
    is_over_ = true;
    sweep_.timings.insert(sweep_.timings.end(), timings_.begin(),
                          timings_.end());
  } else if (word == kRefuse) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(more, absl::MaxSplits(' ', 1));
    int code = 0;
    if (!absl::SimpleAtoi(parts.first, &code)) code = 2;
    refusal_ = absl::Status(static_cast<absl::StatusCode>(code), parts.second);
  } else if (word == kAllDone) {
    is_done_ = true;
  }
}

absl::StatusOr<DeviceSweep> Sweeper::Run() {
  size_t first = 0;
  while (true) {
    ASSIGN_OR_RETURN(const std::string ending, RunFrom(first));
    RETURN_IF_ERROR(refusal_);
    if (is_done_) return std::move(sweep_);
    if (!series_.has_value()) {
      return absl::UnavailableError(absl::StrCat(
          "the plugin ", options_.plugin, " ends the process that opens it, ",
          ending, "; see what it printed, or give another with --plugin"));
    }
    if (!is_over_) {
      sweep_.missing.push_back(
          {all_[*series_],
           absl::StrCat("the plugin ended the process, ", ending)});
    }
    first = *series_ + 1;
  }
}

}  // namespace

absl::StatusOr<DeviceSweep> SweepDevices(const DeviceSweepOptions& options) {
  return Sweeper(options).Run();
}

}  // namespace meshwright::worker::detect
