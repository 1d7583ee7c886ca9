// Pipelines: what the schedules take with and without overlap, how fast the
// simulator is, and how fast the partition into stages.
//
//   build/release/bin/pipeline_bench
//
// Times of this program are CPU time, the minimum of several runs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "planner/pipeline/choose.h"
#include "planner/pipeline/memory.h"
#include "planner/pipeline/orders.h"
#include "planner/pipeline/partition.h"
#include "planner/pipeline/simulate.h"
#include "planner/pipeline/testing/partition_exhaustive.h"
#include "planner/pipeline/testing/random_pipeline.h"
#include "planner/pipeline/trace.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/figure.h"

namespace meshwright::pipeline {
namespace {

template <typename Run>
double Milliseconds(int runs, const Run& run) {
  double minimum = std::numeric_limits<double>::infinity();
  for (int i = 0; i < runs; ++i) {
    const double begin = CpuSeconds();
    run();
    minimum = std::min(minimum, 1e3 * (CpuSeconds() - begin));
  }
  return minimum;
}

constexpr int64_t kMillisecond = 1'000'000'000;

// 10 ms forward, 20 ms backward in halves; activations of 48 MB beside
// parameters of 2.95 GB, as in Table 1 of the paper.
PipelineProblem Layers(int stages, int micro_batches, double transfer_ms,
                       bool overlap) {
  const Picoseconds ten(10 * kMillisecond);
  const Picoseconds transfer(
      static_cast<int64_t>(transfer_ms * static_cast<double>(kMillisecond)));
  return MakeEqualStages(stages, micro_batches,
                         {ten, ten, ten, 48'000'000, 2'950'000'000},
                         {transfer, transfer}, overlap);
}

void Schedules() {
  std::printf(
      "schedules: step over that without communication and bubbles, and the\n"
      "maximum activations of a stage; stages x micro-batches, transfer each "
      "way\n"
      "%-24s %8s %8s %8s %12s %8s\n",
      "", "gpipe", "1f1b", "eager", "eager-delay", "bound");
  for (const auto& [stages, micro_batches] :
       {std::pair(2, 16), std::pair(4, 16), std::pair(8, 64)}) {
    for (const double transfer : {0.0, 2.0, 5.0, 10.0, 20.0}) {
      for (const bool overlap : {false, true}) {
        const auto problem = Layers(stages, micro_batches, transfer, overlap);
        const auto choice = Choose(problem);
        if (!choice.ok()) return;
        const auto over = [&](Picoseconds time) {
          return static_cast<double>(time.count()) /
                 static_cast<double>(30 * kMillisecond * micro_batches);
        };
        std::printf("%d x %-3d %4.0f ms %-9s", stages, micro_batches, transfer,
                    overlap ? "overlap" : "alone");
        for (const Figures& figures : choice->tried) {
          std::printf(" %7.3f", over(figures.step));
        }
        std::printf("      %7.3f  ", over(choice->lower_bound));
        for (const Figures& figures : choice->tried) {
          std::printf(" %lld", static_cast<long long>(
                                   (figures.peak_bytes[0] - 2'950'000'000) /
                                   48'000'000));
        }
        std::printf("\n");
        if (stages != 8 || transfer != 10.0 || !overlap) continue;
        const auto fastest = std::min_element(
            choice->tried.begin(), choice->tried.end(),
            [](const Figures& a, const Figures& b) { return a.step < b.step; });
        PrintFigure(
            "8 stages x 64, transfers of 10 ms overlapped: fastest schedule "
            "over its lower bound",
            "≤ 1.001",
            absl::StrFormat("%.3f",
                            over(fastest->step) / over(choice->lower_bound)));
      }
    }
  }
}

void Speed() {
  constexpr int kStages = 64;
  constexpr int kMicroBatches = 1024;
  std::printf("\nsimulator: %d stages, %d micro-batches\n", kStages,
              kMicroBatches);
  for (const bool overlap : {true, false}) {
    const auto problem = Layers(kStages, kMicroBatches, 5, overlap);
    for (const Schedule schedule : kSchedules) {
      const StageOrders orders = MakeOrders(schedule, kStages, kMicroBatches);
      const double ms = Milliseconds(7, [&] {
        if (!Simulate(problem, orders, {.max = 8}).ok()) std::abort();
      });
      std::printf("%-18s %-8s %8.1f ms\n", std::string(Name(schedule)).c_str(),
                  overlap ? "overlap" : "alone", ms);
    }
  }
  const auto problem = Layers(kStages, kMicroBatches, 5, true);
  const double all = Milliseconds(3, [&] { (void)Choose(problem); });
  std::printf("all schedules and delays      %8.1f ms\n", all);
  const auto timeline =
      Simulate(problem, MakeOrders(Schedule::k1F1B, kStages, kMicroBatches));
  size_t bytes = 0;
  const double ms = Milliseconds(
      3, [&] { bytes = FormatTraceJson(problem, *timeline).size(); });
  std::printf("trace of 1f1b, %.0f MB         %8.1f ms\n",
              static_cast<double>(bytes) / 1e6, ms);
}

void Partitions() {
  std::printf(
      "\npartitions into stages, 64 micro-batches; five seeds\n"
      "%-32s %-10s %10s %10s %9s %8s\n",
      "segments, devices, meshes", "memory", "median ms", "worst ms",
      "programs", "proven");
  int proven_of_all = 0;
  int count = 0;
  for (const auto& [segments, devices, meshes] :
       {std::tuple(24, 16, 5), std::tuple(48, 64, 7), std::tuple(100, 64, 7),
        std::tuple(200, 256, 9)}) {
    for (const bool limited : {false, true}) {
      std::vector<double> times;
      int programs = 0;
      int proven = 0;
      for (int seed = 0; seed < 5; ++seed) {
        PartitionProblem problem =
            RandomPartition(seed, {.segments = segments,
                                   .meshes = meshes,
                                   .devices = devices,
                                   .micro_batches = 64,
                                   .longest = 30 * kMillisecond});
        if (limited) {
          // The minimum and a fifth.
          problem.memory_limit_bytes = 1;
          const auto none = PartitionStages(problem, Schedule::k1F1B);
          if (!none.ok()) return;
          problem.memory_limit_bytes = *none->min_bytes * 6 / 5;
        }
        absl::StatusOr<PartitionAnswer> answer;
        times.push_back(Milliseconds(
            1, [&] { answer = PartitionStages(problem, Schedule::k1F1B); }));
        if (!answer.ok()) return;
        programs = std::max(programs, answer->programs);
        proven += answer->Optimal();
      }
      proven_of_all += proven;
      count += 5;
      std::sort(times.begin(), times.end());
      std::printf("%4d, %4d, %d %19s %-10s %10.1f %10.1f %9d %7d/5\n", segments,
                  devices, meshes, "", limited ? "limited" : "free", times[2],
                  times[4], programs, proven);
    }
  }
  PrintFigure("partitions not proven optimal", "0",
              absl::StrFormat("%d of %d", count - proven_of_all, count));
}

}  // namespace
}  // namespace meshwright::pipeline

int main() {
  meshwright::pipeline::Schedules();
  meshwright::pipeline::Speed();
  meshwright::pipeline::Partitions();
}
