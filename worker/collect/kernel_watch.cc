#include "worker/collect/kernel_watch.h"

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "worker/collect/kernel_times.h"

namespace meshwright::worker::collect {
namespace {

constexpr int kWatchedRuns = 5;
// Two collectors that differ by more are not both right.
constexpr double kAgreement = 0.02;

absl::StatusOr<std::vector<Window>> RunWatched(
    const std::function<absl::Status(int)>& run_once) {
  std::vector<Window> windows;
  for (int run = 0; run <= kWatchedRuns; ++run) {
    Window window;
    window.begin_ns = absl::GetCurrentTimeNanos();
    RETURN_IF_ERROR(run_once(run));
    window.end_ns = absl::GetCurrentTimeNanos();
    if (run > 0) windows.push_back(window);
  }
  return windows;
}

}  // namespace

absl::Status KernelWatch::Watch(const std::function<absl::Status(int)>& run,
                                const std::set<std::string>& collectives,
                                v1::Measurement& measurement) {
  for (auto it = collectors_.begin(); it != collectors_.end();) {
    if (*it == nullptr) {
      RETURN_IF_ERROR(RunWatched(run).status());
      ++it;
      continue;
    }
    KernelCollector& collector = **it;
    v1::KernelTimes& times = *measurement.add_kernel_times();
    absl::Status status = collector.Start();
    if (!status.ok() && keeps_step_) {
      RETURN_IF_ERROR(RunWatched(run).status());
    }
    if (status.ok()) {
      const auto windows = RunWatched(run);
      const auto collection = collector.Stop();
      RETURN_IF_ERROR(windows.status());
      status = collection.status();
      if (status.ok()) {
        times = SumKernels(*collection, *windows, collectives);
      }
    }
    times.set_collector(collector.name());
    if (status.ok()) {
      ++it;
      continue;
    }
    times.add_faults(std::string(status.message()));
    if (keeps_step_) {
      (it++)->reset();
    } else {
      it = collectors_.erase(it);
    }
  }
  const bool have_two = measurement.kernel_times_size() > 1 &&
                        measurement.kernel_times(0).faults().empty() &&
                        measurement.kernel_times(1).faults().empty();
  if (have_two) {
    v1::KernelTimes& second = *measurement.mutable_kernel_times(1);
    const double apart = CompareBusyTimes(measurement.kernel_times(0), second);
    if (apart > kAgreement) {
      second.add_faults(absl::StrCat("the collectors differ by ",
                                     static_cast<int>(apart * 1000) / 10.0,
                                     " %"));
    }
  }
  return {};
}

}  // namespace meshwright::worker::collect
