// The time that the runner adds to that of its devices.
//
//   build/release/bin/runner_bench
//
// The device is the PJRT double (tests/doubles/pjrt.cc), which sleeps for as
// long as its settings say, so that all other time is the runner's.
//   busy      the share of the time from the first run to the last in which the
//             device ran
//   overlap   compile times added up, over the time that compiling took
//   overhead  wall time of a batch of 16, less compiling and running, a program
//   poison    wall time of 128 programs, one of which crashes, over that of 128
//             sound ones
//   solo      a program's time on one device that stands for 2 or 4, against
//             that on all of them; its communication takes no time here
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/bench/figure.h"
#include "tests/integration/double_device.h"

namespace meshwright {
namespace {

using integration::DoubleDevice;
using integration::DoubleSpan;

// 5 ms a run and 100 ms a compilation.
constexpr char kSettings[] = "run_ns 5000000\ncompile_ns 100000000";

std::vector<std::string> Name(int count) {
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i) keys.push_back(absl::StrCat("program ", i));
  return keys;
}

double RunSeconds(const DoubleDevice& device,
                  const std::vector<std::string>& keys) {
  std::map<std::string, v1::ProfileResult> rows;
  const auto begin = std::chrono::steady_clock::now();
  const absl::Status status = device.Run(device.MakeRequest(keys), rows);
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  if (!status.ok() || rows.size() != keys.size()) {
    std::cerr << "runner_bench: " << status << ", " << rows.size() << " rows\n";
    std::exit(1);
  }
  return took.count();
}

double Sum(const std::vector<DoubleSpan>& spans) {
  int64_t sum = 0;
  for (const DoubleSpan& it : spans) sum += it.end_ns - it.begin_ns;
  return static_cast<double>(sum) * 1e-9;
}

// From the first begin to the last end.
double Extent(const std::vector<DoubleSpan>& spans) {
  int64_t begin = spans.front().begin_ns, end = spans.front().end_ns;
  for (const DoubleSpan& it : spans) {
    begin = std::min(begin, it.begin_ns);
    end = std::max(end, it.end_ns);
  }
  return static_cast<double>(end - begin) * 1e-9;
}

// The minimum of a program whose part on each of `devices` takes as long as the
// part is large.
double MeasureSplit(int devices, bool is_solo) {
  const DoubleDevice device("devices 4\nrun_ns 0\nrun_ns_per_element 20000");
  v1::RunnerRequest request = device.MakeRequest({"split"});
  request.mutable_device()->set_device_count(devices);
  request.mutable_device()->set_solo(is_solo);
  request.mutable_programs(0)->set_num_partitions(devices);
  std::map<std::string, v1::ProfileResult> rows;
  const absl::Status status = device.Run(request, rows);
  if (!status.ok() || rows["split"].outcome() != v1::MEASURED) {
    std::cerr << "runner_bench: " << status << rows["split"].reason() << "\n";
    std::exit(1);
  }
  return static_cast<double>(rows["split"].measurement().minimum_ns());
}

void CompareSolo() {
  double worst = 0;
  for (const int devices : {2, 4}) {
    const double real = MeasureSplit(devices, false);
    worst = std::max(worst, std::abs(MeasureSplit(devices, true) / real - 1));
  }
  PrintFigure("one device of the double in place of 2 and 4: time off, worst",
              "≤ 3 %", absl::StrFormat("%.2f %%", 100 * worst));
}

void Run() {
  CompareSolo();
  {
    constexpr int kPrograms = 16;
    const DoubleDevice device(kSettings);
    const double wall = RunSeconds(device, Name(kPrograms));
    const auto runs = device.ReadRuns(), compiles = device.ReadCompiles();
    PrintFigure(
        "16 programs of 5 ms: share of the measuring phase in which the "
        "device is busy",
        "≥ 90 %", absl::StrFormat("%.1f %%", 100 * Sum(runs) / Extent(runs)));
    PrintFigure("the same: compile times over the time that compiling takes",
                "≥ 1.6",
                absl::StrFormat("%.2f", Sum(compiles) / Extent(compiles)));
    PrintFigure(
        "the same: wall time beside compiling and running, a program",
        "≤ 50 ms",
        absl::StrFormat("%.1f ms", 1e3 * (wall - Extent(compiles) - Sum(runs)) /
                                       kPrograms));
  }
  constexpr int kMany = 128;
  std::vector<std::string> keys = Name(kMany);
  const double clean = RunSeconds(DoubleDevice(kSettings), keys);
  keys[kMany / 2] = "crash";
  const double poisoned = RunSeconds(DoubleDevice(kSettings), keys);
  PrintFigure(
      "128 programs, one of which crashes: wall time over that of sound "
      "ones",
      "≤ 1.3",
      absl::StrFormat("%.2f (%.1f s of %.1f s)", poisoned / clean, poisoned,
                      clean));
}

}  // namespace
}  // namespace meshwright

int main() { meshwright::Run(); }
