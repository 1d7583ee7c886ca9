// Reading and analysing whole training steps, beside what protobuf needs to
// parse the same file.
//
//   build/release/bin/analyze_bench [--mesh N] FILE...
//
// Times are CPU time, the minimum of several runs in one process, in
// milliseconds: parse (ParseFromString into an arena), load (LoadModule),
// analyze (Analyze: blocks, segments, types; no programs), their sum over
// parse, and the peak resident memory of one fresh process that loads and
// analyses, over the file's size.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/file.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/ir/module.h"
#include "coordinator/segmenter/analysis.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/figure.h"

namespace meshwright {
namespace {

constexpr int kRuns = 7;

// Of `work`, whose result is destroyed outside the time.
template <typename Work>
double Milliseconds(const Work& work) {
  double minimum = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    const auto start = CpuTime(CLOCK_THREAD_CPUTIME_ID);
    const auto result = work();
    const std::chrono::duration<double, std::milli> taken =
        CpuTime(CLOCK_THREAD_CPUTIME_ID) - start;
    minimum = std::min(minimum, taken.count());
  }
  return minimum;
}

[[noreturn]] void Fail(const std::string& file, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", file.c_str(), status.ToString().c_str());
  std::exit(1);
}

struct Row {
  double parse = 0;
  double load = 0;
  double analyze = 0;
  int instructions = 0;
  int segments = 0;
  int types = 0;
};

Row Measure(const std::string& file, int64_t parts) {
  const auto bytes = base::ReadFile(file);
  if (!bytes.ok()) Fail(file, bytes.status());
  Row row;
  row.parse = Milliseconds([&] {
    auto arena = std::make_unique<google::protobuf::Arena>();
    auto* const proto =
        google::protobuf::Arena::CreateMessage<hlo::HloModuleProto>(
            arena.get());
    if (!proto->ParseFromString(*bytes)) std::abort();
    return arena;
  });
  row.load = Milliseconds([&] { return ir::LoadModule(*bytes); });
  absl::StatusOr<ir::Module> module = ir::LoadModule(*bytes);
  if (!module.ok()) Fail(file, module.status());
  row.instructions = module->size();
  std::vector<ir::Module> copies(kRuns, *module);
  row.analyze = Milliseconds([&] {
    ir::Module copy = std::move(copies.back());
    copies.pop_back();
    return segmenter::Analyze(std::move(copy), {1, parts});
  });
  const auto analysis = segmenter::Analyze(*std::move(module), {1, parts});
  if (!analysis.ok()) Fail(file, analysis.status());
  row.segments = static_cast<int>(analysis->plan.segments.size());
  row.types = static_cast<int>(analysis->types.size());
  return row;
}

// In a fresh process, so that earlier files do not count.
double ComputePeakBytes(const std::string& file, int64_t parts) {
  const pid_t child = fork();
  if (child == 0) {
    const auto bytes = base::ReadFile(file);
    auto module = ir::LoadModule(*bytes);
    if (!module.ok()) _exit(1);
    const auto analysis = segmenter::Analyze(*std::move(module), {1, parts});
    _exit(analysis.ok() ? 0 : 1);
  }
  int status = 0;
  rusage usage = {};
  wait4(child, &status, 0, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

}  // namespace
}  // namespace meshwright

int main(int argc, char** argv) {
  int64_t parts = 2;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--mesh" && i + 1 < argc) {
      parts = std::atoll(argv[++i]);
    } else {
      files.emplace_back(argv[i]);
    }
  }
  if (files.empty()) {
    std::fprintf(stderr, "usage: analyze_bench [--mesh N] FILE...\n");
    return 2;
  }
  // Memory first: a child starts with what its parent has touched.
  std::vector<double> peaks;
  for (const std::string& file : files) {
    peaks.push_back(meshwright::ComputePeakBytes(file, parts));
  }
  std::printf("%10s %12s %8s %5s %8s %8s %8s %6s %12s %10s\n", "bytes",
              "instructions", "segments", "types", "parse", "load", "analyze",
              "ratio", "us/operation", "peak/file");
  double worst_ratio = 0;
  double worst_peak = 0;
  double min_each = std::numeric_limits<double>::infinity();
  double max_each = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    const meshwright::Row row = meshwright::Measure(files[i], parts);
    const double bytes =
        static_cast<double>(meshwright::base::ReadFile(files[i])->size());
    std::printf("%10.0f %12d %8d %5d %8.1f %8.1f %8.1f %6.2f %12.2f %10.1f\n",
                bytes, row.instructions, row.segments, row.types, row.parse,
                row.load, row.analyze, (row.load + row.analyze) / row.parse,
                1000 * (row.load + row.analyze) / row.instructions,
                peaks[i] / bytes);
    const double sum = row.load + row.analyze;
    worst_ratio = std::max(worst_ratio, sum / row.parse);
    worst_peak = std::max(worst_peak, peaks[i] / bytes);
    min_each = std::min(min_each, 1000 * sum / row.instructions);
    max_each = std::max(max_each, 1000 * sum / row.instructions);
  }
  meshwright::PrintFigure("load and analysis over parsing the file, worst",
                          "≤ 8", absl::StrFormat("%.1f", worst_ratio));
  meshwright::PrintFigure("peak memory over the file's size, worst", "≤ 20",
                          absl::StrFormat("%.1f", worst_peak));
  meshwright::PrintFigure(
      "time per instruction over all depths, maximum over minimum", "≤ 2",
      absl::StrFormat("%.1f us / %.1f us = %.2f", max_each, min_each,
                      max_each / min_each));
  return 0;
}
