// The op-level solver on chains of matrix products with skips.
//
//   build/release/bin/intraop_bench
//
// 100 operators; every second one of equal width has a skip over two. Meshes of
// one and two axes give 4 and up to 16 strategies each. Wanted: 1.5 s for 100
// operators of 8 strategies.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "absl/strings/str_format.h"
#include "planner/intraop/solve.h"
#include "planner/intraop/testing/random_model.h"
#include "tests/bench/figure.h"

namespace meshwright::intraop {
namespace {

struct Worst {
  double seconds = 0;
  double gap = 0;
};

void Report(const char* name, const Mesh& mesh, int strategies, double budget,
            Worst& of_all) {
  double worst = 0;
  double gap = 0;
  size_t max_strategies = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const OpModel model = RandomModel(seed, 100);
    Request request;
    request.machine = MakeMachine(mesh);
    request.max_strategies = strategies;
    if (budget < 1) {
      const auto free = Solve(model, request);
      if (!free.ok() || !free->plan.has_value()) return;
      request.memory_limit_bytes = static_cast<int64_t>(
          static_cast<double>(free->plan->peak_bytes) * budget);
    }
    const auto start = std::chrono::steady_clock::now();
    search::Options options;
    options.deadline.at = start + std::chrono::milliseconds(1500);
    const auto built = BuildProblem(model, request);
    const auto answer = Solve(model, request, options);
    worst = std::max(worst, std::chrono::duration<double>(
                                std::chrono::steady_clock::now() - start)
                                .count());
    if (!built.ok() || !answer.ok()) return;
    for (const auto& ways : built->strategies) {
      max_strategies = std::max(max_strategies, ways.size());
    }
    if (answer->plan.has_value() && answer->plan->time.count() > 0) {
      gap = std::max(gap,
                     1 - static_cast<double>(answer->lower_bound.count()) /
                             static_cast<double>(answer->plan->time.count()));
    }
  }
  std::printf("%-18s %10zu %10.0f ms %10.1e\n", name, max_strategies,
              1e3 * worst, gap);
  of_all = {std::max(of_all.seconds, worst), std::max(of_all.gap, gap)};
}

}  // namespace
}  // namespace meshwright::intraop

int main() {
  using meshwright::intraop::Report;
  std::printf("%-18s %10s %13s %10s\n", "mesh, budget", "strategies", "worst",
              "gap");
  meshwright::intraop::Worst of_all;
  Report("4", {4}, 48, 1, of_all);
  Report("4, 90 %", {4}, 48, 0.9, of_all);
  Report("2x4, 8 each", {2, 4}, 8, 1, of_all);
  Report("2x4, 8 each, 90 %", {2, 4}, 8, 0.9, of_all);
  Report("2x4", {2, 4}, 48, 1, of_all);
  Report("2x4, 90 %", {2, 4}, 48, 0.9, of_all);
  const std::string what = "100 operators on meshes 4 and 2x4, free and 90 %: ";
  meshwright::PrintFigure(what + "worst wall time", "≤ 1500 ms",
                          absl::StrFormat("%.0f ms", 1e3 * of_all.seconds));
  meshwright::PrintFigure(what + "worst gap", "≤ 1e-3",
                          absl::StrFormat("%.1e", of_all.gap));
}
