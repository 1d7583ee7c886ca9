#include "worker/devices/load_watch.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "worker/devices/control_groups.h"

namespace meshwright::worker::devices {
namespace {

constexpr absl::Duration kGlance = absl::Milliseconds(100);

absl::Duration Ticks(int64_t ticks) {
  static const int64_t per_second = sysconf(_SC_CLK_TCK);
  return absl::Seconds(1) * ticks / per_second;
}

// Of a process: user and system time, fields 14 and 15 of its stat file. Its
// name, field 2, may hold blanks and ends with the last ')'.
absl::Duration ProcessTime(const std::filesystem::path& root, pid_t process) {
  std::ifstream file(root / "proc" / absl::StrCat(process) / "stat");
  std::string line;
  std::getline(file, line);
  const size_t end = line.rfind(')');
  if (end == std::string::npos) return absl::ZeroDuration();
  std::istringstream rest(line.substr(end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) rest >> skipped;
  int64_t user = 0;
  int64_t system = 0;
  rest >> user >> system;
  return Ticks(user + system);
}

absl::Duration OwnTime() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

}  // namespace

LoadWatch::LoadWatch(std::vector<pid_t> helpers, std::filesystem::path root,
                     std::vector<int> processors)
    : helpers_(std::move(helpers)),
      root_(std::move(root)),
      processors_(std::move(processors)) {}

std::optional<LoadWatch::Reading> LoadWatch::Read() const {
  Reading reading;
  reading.time = base::SteadyClock().Now();
  reading.own = OwnTime();
  reading.throttled = ReadThrottledTime(root_);
  for (const pid_t helper : helpers_) {
    reading.own += ProcessTime(root_, helper);
  }
  std::ifstream file(root_ / "proc/stat");
  std::string line;
  bool found = false;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string name;
    fields >> name;
    int processor = 0;
    if (!absl::StartsWith(name, "cpu") ||
        !absl::SimpleAtoi(name.substr(3), &processor) ||
        !std::binary_search(processors_.begin(), processors_.end(),
                            processor)) {
      continue;
    }
    // user nice system idle iowait irq softirq steal
    int64_t ticks[8] = {};
    for (int64_t& it : ticks) fields >> it;
    reading.busy +=
        Ticks(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7]);
    found = true;
  }
  if (!found) return std::nullopt;
  return reading;
}

double MeasureShareOfOthers(const LoadWatch::Reading& from,
                            const LoadWatch::Reading& to, int processors) {
  const absl::Duration available = (to.time - from.time) * processors;
  if (available <= absl::ZeroDuration()) return 0;
  const absl::Duration others = (to.busy - from.busy) - (to.own - from.own) +
                                (to.throttled - from.throttled);
  return std::clamp(absl::FDivDuration(others, available), 0.0, 1.0);
}

double LoadWatch::MeasureOtherShare(const Reading& from,
                                    const Reading& to) const {
  return MeasureShareOfOthers(from, to, processors());
}

double LoadWatch::MeasureOtherShare() const {
  const std::optional<Reading> now = Read();
  if (!begin_.has_value() || !now.has_value()) return 0;
  return MeasureOtherShare(*begin_, *now);
}

double LoadWatch::WaitForCalm(
    double share, absl::Duration limit,
    const std::function<void(double)>& on_wait) const {
  const base::SteadyClock clock;
  const absl::Time deadline = clock.Now() + limit;
  for (bool first = true;; first = false) {
    const std::optional<Reading> from = Read();
    absl::SleepFor(kGlance);
    const std::optional<Reading> to = Read();
    if (!from.has_value() || !to.has_value()) return 0;
    const double others = MeasureOtherShare(*from, *to);
    if (others <= share || clock.Now() >= deadline) return others;
    if (first) on_wait(others);
  }
}

}  // namespace meshwright::worker::devices
