// The layout planner on random conversions: cold and cached times, and how much
// slower the paths of MAP's heuristic are.
//
//   build/release/bin/layout_bench
//
// Cold is CheapestPath on a problem it never saw, cached LayoutPlanner::Convert
// on one it holds; neither has JSON in it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "planner/layout/cheapest_path.h"
#include "planner/layout/greedy_path.h"
#include "planner/layout/planner.h"
#include "planner/layout/testing/random_layout.h"
#include "planner/layout/validate.h"
#include "tests/bench/figure.h"

namespace meshwright::layout {
namespace {

struct Kind {
  const char* name;
  std::vector<int64_t> mesh;
  int dims;
  bool uneven;
  int cases;
};

// Alpha 1 to 30 us and beta 1/600 to 1/25 s/GB, each axis its own.
LayoutProblem Make(const Kind& kind, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto between = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random() % 1000) / 1000;
  };
  const int axes = static_cast<int>(kind.mesh.size());
  LayoutProblem problem;
  for (int d = 0; d < kind.dims; ++d) {
    const auto size = int64_t{512} << random() % 4;
    const auto less = static_cast<int64_t>(random() % 256);
    problem.shape.push_back(kind.uneven ? size - less : size);
  }
  problem.elem_bytes = 2;
  problem.mesh = kind.mesh;
  std::vector<double> alpha;
  std::vector<double> beta;
  for (int axis = 0; axis < axes; ++axis) {
    alpha.push_back(between(1e-6, 30e-6));
    beta.push_back(1e-9 / between(25, 600));
  }
  problem.links = *AlphaBetaLinks::Create(alpha, beta);
  problem.source = RandomSpec(random(), axes, kind.dims);
  problem.target = RandomSpec(random(), axes, kind.dims);
  return problem;
}

double Percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(part *
                                    static_cast<double>(values.size() - 1))];
}

template <typename Run>
double Microseconds(const Run& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now() - begin)
      .count();
}

// In microseconds.
struct Medians {
  double cold = 0;
  double cached = 0;
};

Medians Report(const Kind& kind) {
  constexpr int kLookups = 1000;
  std::vector<double> cold;
  std::vector<double> cached;
  std::vector<double> ratios;  // of the heuristic's path to the best
  int unreached = 0;
  int stuck = 0;  // only the heuristic
  int64_t specs = 0;
  LayoutPlanner planner;
  for (int seed = 0; seed < kind.cases; ++seed) {
    const LayoutProblem problem = Make(kind, seed);
    absl::StatusOr<Conversion> best;
    cold.push_back(Microseconds([&] { best = FindCheapestPath(problem); }));
    if (!best.ok()) {
      std::fprintf(stderr, "%s: %s\n", kind.name,
                   best.status().ToString().c_str());
      std::exit(1);
    }
    specs = std::max(specs, best->specs_seen);
    (void)planner.Convert(problem);
    cached.push_back(Microseconds([&] {
                       for (int i = 0; i < kLookups; ++i) {
                         (void)planner.Convert(problem);
                       }
                     }) /
                     kLookups);
    if (!best->path.has_value()) {
      ++unreached;
      continue;
    }
    const auto greedy = FindGreedyPath(problem);
    if (!greedy.has_value()) {
      ++stuck;
    } else if (best->path->time.count() > 0) {
      ratios.push_back(static_cast<double>(greedy->time.count()) /
                       static_cast<double>(best->path->time.count()));
    }
  }
  const auto slower = std::count_if(ratios.begin(), ratios.end(),
                                    [](double ratio) { return ratio > 1; });
  std::printf(
      "%-18s %6d %8.1f %8.1f %9.1f %8.3f %9lld %6d %6d %7.1f %6.2f %7.2f\n",
      kind.name, kind.cases, Percentile(cold, 0.5), Percentile(cold, 0.9),
      Percentile(cold, 1), Percentile(cached, 0.5),
      static_cast<long long>(specs), unreached, stuck,
      ratios.empty() ? 0.0
                     : 100.0 * static_cast<double>(slower) /
                           static_cast<double>(ratios.size()),
      Percentile(ratios, 0.5), Percentile(ratios, 0.9));
  return {Percentile(cold, 0.5), Percentile(cached, 0.5)};
}

void Run() {
  std::printf("%-18s %6s %8s %8s %9s %8s %9s %6s %6s %7s %6s %7s\n",
              "mesh, tensor", "cases", "cold us", "90 %", "worst", "cached",
              "specs", "no way", "stuck", "slower%", "ratio", "90 %");
  const Kind kinds[] = {{"8, 4-D", {8}, 4, false, 2000},
                        {"8x8, 4-D", {8, 8}, 4, false, 2000},
                        {"8x8x8, 4-D", {8, 8, 8}, 4, false, 2000},
                        {"8x8x8, uneven", {8, 8, 8}, 4, true, 2000},
                        {"2x4x8, 4-D", {2, 4, 8}, 4, false, 2000},
                        {"8x8x8x8, 4-D", {8, 8, 8, 8}, 4, false, 200},
                        {"2x2x4x8, uneven", {2, 2, 4, 8}, 4, true, 200},
                        {"2^5, 4-D", {2, 2, 2, 2, 2}, 4, false, 20},
                        {"2^6, 4-D", {2, 2, 2, 2, 2, 2}, 4, false, 20},
                        {"2^7, 4-D", {2, 2, 2, 2, 2, 2, 2}, 4, false, 3},
                        {"2^8, 4-D", {2, 2, 2, 2, 2, 2, 2, 2}, 4, false, 1}};
  Medians worst;
  for (const Kind& kind : kinds) {
    const Medians medians = Report(kind);
    if (kind.mesh.size() > 3) continue;
    worst = {std::max(worst.cold, medians.cold),
             std::max(worst.cached, medians.cached)};
  }
  PrintFigure("meshes of up to three dimensions, not cached: worst median",
              "≤ 1000 us", absl::StrFormat("%.0f us", worst.cold));
  PrintFigure("meshes of up to three dimensions, cached: worst median",
              "≤ 2 us", absl::StrFormat("%.2f us", worst.cached));
}

}  // namespace
}  // namespace meshwright::layout

int main() { meshwright::layout::Run(); }
