#include "worker/collect/kernel_times.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace meshwright::worker::collect {
namespace {

using Interval = std::pair<int64_t, int64_t>;

// The clocks of host and device agree to some microseconds.
constexpr int64_t kClockSlackNs = 20'000;
// No execution that is collected takes as long.
constexpr int64_t kEndlessNs = int64_t{3'600'000'000'000};

// The length of the union.
int64_t Measure(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  int64_t length = 0;
  int64_t end = INT64_MIN;
  for (const auto& [from, to] : intervals) {
    if (to <= end) continue;
    length += to - std::max(from, end);
    end = to;
  }
  return length;
}

struct Execution {
  Window window;
  std::vector<const KernelRecord*> records;
  int64_t start_ns = INT64_MAX;
  int64_t end_ns = INT64_MIN;
  int64_t Span() const { return end_ns - start_ns; }
  void Add(const KernelRecord& record) {
    records.push_back(&record);
    start_ns = std::min(start_ns, record.start_ns);
    end_ns = std::max(end_ns, record.end_ns);
  }
};

// CUPTI gives the mangled names of functions in C++: _Z, the number of letters,
// the name, the types of its arguments.
bool IsNccl(absl::string_view name) {
  if (absl::ConsumePrefix(&name, "_Z")) {
    while (!name.empty() && absl::ascii_isdigit(name.front())) {
      name.remove_prefix(1);
    }
  }
  return absl::StartsWith(name, "nccl");
}

bool Communicates(const KernelRecord& record,
                  const std::set<std::string>& collectives) {
  return collectives.contains(record.operation) || IsNccl(record.name);
}

// Records before the first window are of the execution that is not looked at.
std::vector<Execution> Divide(const Collection& collection,
                              const std::vector<Window>& windows,
                              v1::KernelTimes& times) {
  std::vector<Execution> executions;
  for (const Window& window : windows) executions.push_back({window});
  int64_t reversed = 0;
  int64_t untimed = 0;
  int64_t endless = 0;
  for (const KernelRecord& record : collection.records) {
    // Clocks count up from 0.
    if (record.start_ns <= 0 || record.end_ns <= 0) {
      ++untimed;
      continue;
    }
    if (record.end_ns < record.start_ns) {
      ++reversed;
      continue;
    }
    if (record.end_ns - record.start_ns > kEndlessNs) {
      ++endless;
      continue;
    }
    const auto after =
        std::upper_bound(windows.begin(), windows.end(), record.start_ns,
                         [](int64_t start, const Window& it) {
                           return start < it.begin_ns - kClockSlackNs;
                         });
    if (after == windows.begin()) continue;
    executions[after - windows.begin() - 1].Add(record);
  }
  if (untimed > 0) {
    times.add_faults(absl::StrCat(untimed, " records have no times"));
  }
  if (reversed > 0) {
    times.add_faults(absl::StrCat(reversed, " records end before they start"));
  }
  if (endless > 0) {
    times.add_faults(absl::StrCat(endless, " records take more than an hour"));
  }
  return executions;
}

// Those with as many records as most have.
std::vector<Execution> KeepUsual(std::vector<Execution> executions,
                                 v1::KernelTimes& times) {
  std::map<size_t, int> counts;
  for (const Execution& it : executions) ++counts[it.records.size()];
  counts.erase(0);
  if (counts.empty()) return {};
  const size_t usual =
      std::max_element(counts.begin(), counts.end(), [](auto& a, auto& b) {
        return a.second < b.second;
      })->first;
  if (2 * counts[usual] < static_cast<int>(executions.size())) {
    times.add_faults("the executions show different numbers of records");
  }
  std::erase_if(executions, [&](const Execution& it) {
    return it.records.size() != usual;
  });
  return executions;
}

// Templates have names of thousands of letters, and nobody says that they are
// UTF-8, as a message wants them.
std::string Shorten(const std::string& name) {
  constexpr size_t kShown = 200;
  std::string text = name.substr(0, kShown);
  for (char& letter : text) {
    if (!absl::ascii_isprint(letter)) letter = '?';
  }
  return text;
}

// What the device did of it that worked from its first record to its last for
// longest; of two alike, the first.
Execution PickDevice(const Execution& execution) {
  std::map<int64_t, Execution> devices;
  for (const KernelRecord* record : execution.records) {
    devices[record->device].Add(*record);
  }
  return std::max_element(devices.begin(), devices.end(),
                          [](const auto& a, const auto& b) {
                            return a.second.Span() < b.second.Span();
                          })
      ->second;
}

void AddHottest(const Execution& execution, v1::KernelTimes& times) {
  constexpr size_t kShown = 5;
  std::map<std::pair<std::string, std::string>, v1::HotKernel> kernels;
  for (const KernelRecord* record : execution.records) {
    v1::HotKernel& kernel = kernels[{record->operation, record->name}];
    kernel.set_name(Shorten(record->name));
    kernel.set_operation(Shorten(record->operation));
    kernel.set_total_ns(kernel.total_ns() +
                        (record->end_ns - record->start_ns));
    kernel.set_count(kernel.count() + 1);
  }
  std::vector<v1::HotKernel> sorted;
  for (auto& [name, kernel] : kernels) sorted.push_back(std::move(kernel));
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const auto& a, const auto& b) { return a.total_ns() > b.total_ns(); });
  sorted.resize(std::min(sorted.size(), kShown));
  times.mutable_hottest()->Assign(sorted.begin(), sorted.end());
}

void Sum(const Execution& execution, const std::set<std::string>& collectives,
         v1::KernelTimes& times) {
  std::vector<Interval> compute;
  std::vector<Interval> communication;
  std::vector<Interval> kernels;
  std::vector<Interval> all;
  const Execution device = PickDevice(execution);
  for (const KernelRecord* record : device.records) {
    const Interval interval(record->start_ns, record->end_ns);
    all.push_back(interval);
    if (record->kind == KernelRecord::Kind::kCopy) continue;
    kernels.push_back(interval);
    (Communicates(*record, collectives) ? communication : compute)
        .push_back(interval);
  }
  AddHottest(device, times);
  times.set_kernels(static_cast<int32_t>(kernels.size()));
  times.set_wall_ns(execution.window.end_ns - execution.window.begin_ns);
  times.set_span_ns(execution.Span());
  times.set_lead_ns(
      std::max<int64_t>(execution.start_ns - execution.window.begin_ns, 0));
  times.set_compute_ns(Measure(std::move(compute)));
  times.set_communication_ns(Measure(std::move(communication)));
  const int64_t in_kernels = Measure(std::move(kernels));
  const int64_t busy = Measure(std::move(all));
  times.set_overlap_ns(times.compute_ns() + times.communication_ns() -
                       in_kernels);
  times.set_copy_ns(busy - in_kernels);
  times.set_idle_ns(times.span_ns() - busy);
  if (busy > times.wall_ns() + kClockSlackNs) {
    times.add_faults(absl::StrCat("the records fill ", busy,
                                  " ns of an execution of ", times.wall_ns(),
                                  " ns"));
  }
}

}  // namespace

v1::KernelTimes SumKernels(const Collection& collection,
                           const std::vector<Window>& windows,
                           const std::set<std::string>& collectives) {
  v1::KernelTimes times;
  times.set_executions(static_cast<int32_t>(windows.size()));
  if (collection.dropped > 0) {
    times.add_faults(absl::StrCat(collection.dropped, " records were dropped"));
  }
  std::vector<Execution> executions =
      KeepUsual(Divide(collection, windows, times), times);
  if (executions.empty()) {
    times.add_faults("the collector saw no kernel");
    return times;
  }
  Sum(*std::min_element(executions.begin(), executions.end(),
                        [](const Execution& a, const Execution& b) {
                          return a.Span() < b.Span();
                        }),
      collectives, times);
  return times;
}

namespace {

// Of the collector with the shortest span that it trusts; null: there is none.
const v1::KernelTimes* FindBest(const v1::Measurement& measurement) {
  const v1::KernelTimes* best = nullptr;
  for (const v1::KernelTimes& times : measurement.kernel_times()) {
    if (!times.faults().empty() || times.span_ns() <= 0) continue;
    if (best == nullptr || times.span_ns() < best->span_ns()) best = &times;
  }
  return best;
}

}  // namespace

int64_t FindExposedCommunication(const v1::Measurement& measurement) {
  const v1::KernelTimes* const best = FindBest(measurement);
  return best == nullptr ? 0 : best->communication_ns() - best->overlap_ns();
}

int64_t FindLaunch(const v1::Measurement& measurement) {
  const v1::KernelTimes* const best = FindBest(measurement);
  if (best == nullptr) return 0;
  return std::max<int64_t>(measurement.minimum_ns() - best->span_ns(), 0);
}

double CompareBusyTimes(const v1::KernelTimes& a, const v1::KernelTimes& b) {
  const auto busy = [](const v1::KernelTimes& it) {
    return static_cast<double>(it.span_ns() - it.idle_ns());
  };
  const double larger = std::max(busy(a), busy(b));
  return larger == 0 ? 0 : std::abs(busy(a) - busy(b)) / larger;
}

}  // namespace meshwright::worker::collect
