#include "tests/bench/growth.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/file.h"
#include "base/status_macros.h"

namespace meshwright {
namespace {

constexpr size_t kPoints = 100;
constexpr double kSecondsOfAnHour = 3600;
constexpr double kAllowedMibAnHour = 2;
// By how much the fit of a heap that stays may be off.
constexpr double kNoiseMib = 8;
// In less than half an hour: caches fill, heaps settle.
constexpr double kAllowedAtFirstMib = 64;
// Files and threads that come and go by themselves.
constexpr int kAllowedDescriptors = 4;
constexpr int kAllowedThreads = 4;

struct Point {
  double seconds = 0;
  double mib = 0;
};

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<Point> MakePoints(const std::vector<ProcessSample>& samples) {
  const size_t count = std::min(kPoints, samples.size());
  std::vector<Point> points;
  for (size_t i = 0; i < count; ++i) {
    std::vector<double> seconds;
    std::vector<double> mib;
    for (size_t at = i * samples.size() / count;
         at < (i + 1) * samples.size() / count; ++at) {
      seconds.push_back(samples[at].seconds);
      mib.push_back(samples[at].resident_mib);
    }
    points.push_back({Median(std::move(seconds)), Median(std::move(mib))});
  }
  return points;
}

double FitSlope(const std::vector<Point>& points) {
  std::vector<double> slopes;
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = i + 1; j < points.size(); ++j) {
      const double seconds = points[j].seconds - points[i].seconds;
      if (seconds <= 0) continue;
      slopes.push_back((points[j].mib - points[i].mib) / seconds);
    }
  }
  return Median(std::move(slopes));
}

}  // namespace

absl::StatusOr<ProcessSample> ReadProcess(pid_t process) {
  const std::string folder = absl::StrCat("/proc/", process);
  ASSIGN_OR_RETURN(const std::string status,
                   base::ReadFile(folder + "/status"));
  ProcessSample sample;
  std::istringstream words(status);
  for (std::string word; words >> word;) {
    double kib = 0;
    if (word == "RssAnon:" && words >> kib) sample.resident_mib = kib / 1024;
    if (word == "Threads:") words >> sample.threads;
  }
  std::error_code error;
  const std::filesystem::directory_iterator files(folder + "/fd", error);
  if (error) {
    return absl::NotFoundError(absl::StrCat("process ", process, " has ended"));
  }
  sample.descriptors =
      static_cast<int>(std::distance(begin(files), end(files)));
  return sample;
}

Growth FitGrowth(const std::vector<ProcessSample>& samples) {
  Growth growth;
  if (samples.empty()) return growth;
  growth.seconds = samples.back().seconds - samples.front().seconds;
  growth.mib_an_hour = kSecondsOfAnHour * FitSlope(MakePoints(samples));
  std::vector<double> mib;
  for (const ProcessSample& it : samples) mib.push_back(it.resident_mib);
  growth.resident_mib = Median(std::move(mib));
  return growth;
}

double AllowedGrowth(double seconds) {
  if (seconds < kSecondsOfAnHour / 2) return kAllowedAtFirstMib;
  return std::max(kNoiseMib, kAllowedMibAnHour * seconds / kSecondsOfAnHour);
}

double AllowedAnHour(double seconds) {
  return seconds <= 0 ? 0 : AllowedGrowth(seconds) * kSecondsOfAnHour / seconds;
}

std::string FindGrowth(const Growth& growth) {
  const double mib = growth.mib_an_hour * growth.seconds / kSecondsOfAnHour;
  const double allowed = AllowedGrowth(growth.seconds);
  if (mib > allowed) {
    return absl::StrFormat(
        "its memory grew by %.0f MiB in %.0f s, more than %.0f MiB; a longer "
        "run says whether it goes on",
        mib, growth.seconds, allowed);
  }
  const auto compare = [](const char* what, int before, int after,
                          int allowed_more) -> std::string {
    if (after <= before + allowed_more) return "";
    return absl::StrFormat(
        "it had %d %s before and %d after the same work, more than %d beyond; "
        "/proc/PID says which",
        before, what, after, allowed_more);
  };
  std::string files = compare("open files", growth.before.descriptors,
                              growth.after.descriptors, kAllowedDescriptors);
  if (!files.empty()) return files;
  return compare("threads", growth.before.threads, growth.after.threads,
                 kAllowedThreads);
}

}  // namespace meshwright
