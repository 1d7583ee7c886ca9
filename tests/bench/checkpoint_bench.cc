// The checkpoint solver: short chains in exact bytes, long ones by slots.
//
//   build/release/bin/checkpoint_bench
//
// Per number of stages, kind of chain and budget (the share of the way from the
// minimum memory to that of saving everything): the wall time of one Solve on
// two threads, no JSON; `gap` is (makespan - lower bound) / makespan,
// `repeated` the share of the makespan that runs a second time.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <random>
#include <string>

#include "absl/strings/str_format.h"
#include "planner/checkpoint/solve.h"
#include "tests/bench/figure.h"

namespace meshwright::checkpoint {
namespace {

enum Shape {
  kMixed,         // every stage differs, time and memory apart
  kCorrelated,    // the time follows the bytes saved, with noise
  kProportional,  // the time is the bytes saved, little is kept: as hard as
                  // sums of subsets
  kLayers,        // equal layers of two stages each
};
constexpr const char* kNames[] = {"mixed", "correlated", "proportional",
                                  "layers"};

Chain MakeChain(int stages, Shape shape) {
  std::mt19937_64 random(stages * 10 + shape);
  const auto between = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low));
  };
  Chain chain;
  chain.act_bytes.push_back(between(1'000'000, 100'000'000));
  for (int i = 0; i < stages; ++i) {
    if (shape == kLayers && i >= 2) {
      chain.act_bytes.push_back(int64_t{chain.act_bytes[i - 1]});
      chain.saved_bytes.push_back(int64_t{chain.saved_bytes[i - 2]});
      chain.forward.push_back(Picoseconds{chain.forward[i - 2]});
    } else {
      const bool hard = shape == kProportional;
      const int64_t act = between(1'000'000, hard ? 10'000'000 : 100'000'000);
      const int64_t inner = between(hard ? 100'000'000 : 0, 400'000'000);
      chain.act_bytes.push_back(act);
      chain.saved_bytes.push_back(act + inner);
      int64_t time = between(1'000'000'000, 9'000'000'000);
      if (shape == kCorrelated) time = 10 * (act + inner) + time / 10;
      if (hard) time = 10 * (act + inner);
      chain.forward.emplace_back(time);
    }
    chain.backward.push_back(2 * chain.forward.back());
    if (shape == kProportional) continue;
    chain.forward_transient_bytes.push_back(20'000'000);
    chain.backward_transient_bytes.push_back(40'000'000);
    chain.forward_communication.emplace_back(300'000'000);
    chain.backward_communication.emplace_back(300'000'000);
  }
  return chain;
}

struct Worst {
  double seconds = 0;
  double gap = 0;
};

void SolveOnce(int stages, Shape shape, int percent, Worst& worst) {
  const Chain chain = MakeChain(stages, shape);
  int64_t full = chain.act_bytes[0];
  for (const int64_t bytes : chain.saved_bytes) full += bytes;
  const int64_t minimum = *Solve(chain, 1)->least_memory_bytes;
  const int64_t budget = minimum + (full - minimum) / 100 * percent;
  const auto start = std::chrono::steady_clock::now();
  const auto answer = Solve(chain, budget, {.threads = 2});
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  if (!answer.ok() || !answer->plan.has_value()) std::abort();
  const double makespan = problem::ToSeconds(answer->plan->makespan);
  const double gap = 1 - problem::ToSeconds(answer->lower_bound) / makespan;
  double base = 0;
  for (int i = 0; i < chain.stages(); ++i) {
    base += problem::ToSeconds(chain.ForwardTime(i) + chain.BackwardTime(i));
  }
  std::printf("%6d %-14s %5d %% %10.1f ms %8.3f %% %8.1f %% %s\n", stages,
              kNames[shape], percent, 1e3 * seconds, 100 * gap,
              100 * (1 - base / makespan), answer->solver.c_str());
  std::fflush(stdout);
  worst.seconds = std::max(worst.seconds, seconds);
  worst.gap = std::max(worst.gap, gap);
}

Worst SolveChains(int stages, std::initializer_list<Shape> shapes,
                  std::initializer_list<int> percents) {
  Worst worst;
  for (const Shape shape : shapes) {
    for (const int percent : percents) {
      SolveOnce(stages, shape, percent, worst);
    }
  }
  return worst;
}

void Run() {
  std::printf("%6s %-14s %7s %13s %10s %10s %s\n", "stages", "chain", "budget",
              "wall time", "gap", "repeated", "solver");
  for (const int stages : {32, 64, 100}) {
    const Worst worst = SolveChains(
        stages, {kMixed, kCorrelated, kProportional, kLayers}, {5, 30, 60, 90});
    if (stages != 64) continue;
    PrintFigure("64 stages, exact bytes: worst wall time", "≤ 1 s",
                absl::StrFormat("%.3f s", worst.seconds));
    PrintFigure("64 stages, exact bytes: worst gap", "0 %",
                absl::StrFormat("%.3f %%", 100 * worst.gap));
  }
  const Worst slots =
      SolveChains(400, {kMixed, kCorrelated, kLayers}, {5, 30, 60, 90});
  PrintFigure("400 stages, 500 slots, two threads: worst wall time", "≤ 2 s",
              absl::StrFormat("%.1f s", slots.seconds));
  const Worst longest = SolveChains(1200, {kMixed}, {30, 60});
  // The largest problem comes last, so this is what it takes.
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  PrintFigure("1,200 stages: worst wall time", "≤ 90 s",
              absl::StrFormat("%.0f s", longest.seconds));
  PrintFigure("1,200 stages: memory", "≤ 3 GB",
              absl::StrFormat("%.1f GB",
                              1024e-9 * static_cast<double>(usage.ru_maxrss)));
}

}  // namespace
}  // namespace meshwright::checkpoint

int main() { meshwright::checkpoint::Run(); }
