// The checkpoint solver: short chains in exact bytes, long ones by slots.
//
//   build/release/bin/checkpoint_bench
//
// Times are those of Solve, all phases, on two threads; no JSON. `gap` is
// (makespan - lower bound) / makespan, `repeated` the share of the makespan
// that runs a second time. The argument beside the stages is the budget, in
// hundredths of the way from the least memory to that of saving everything.
#include <benchmark/benchmark.h>

#include <random>
#include <string>

#include "planner/checkpoint/solve.h"

namespace meshwright::checkpoint {
namespace {

enum Shape {
  kMixed,         // every stage differs, time and memory apart
  kCorrelated,    // the time follows the bytes saved, with noise
  kProportional,  // the time is the bytes saved, what is kept is little: as
                  // hard as sums of subsets
  kLayers,        // equal layers of two stages each
};

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

void RunSolver(benchmark::State& state, Shape shape) {
  const Chain chain = MakeChain(static_cast<int>(state.range(0)), shape);
  int64_t full = chain.act_bytes[0];
  for (const int64_t bytes : chain.saved_bytes) full += bytes;
  const int64_t least = *Solve(chain, 1)->least_memory_bytes;
  const int64_t budget =
      least + (full - least) / 100 * static_cast<int64_t>(state.range(1));
  Options options;
  options.threads = 2;
  absl::StatusOr<Answer> answer;
  for (auto _ : state) answer = Solve(chain, budget, options);
  const double makespan = problem::ToSeconds(answer->plan->makespan);
  const double bound = problem::ToSeconds(answer->lower_bound);
  double base = 0;
  for (int i = 0; i < chain.stages(); ++i) {
    base += problem::ToSeconds(chain.ForwardTime(i) + chain.BackwardTime(i));
  }
  state.counters["gap_%"] = 100 * (makespan - bound) / makespan;
  state.counters["repeated_%"] = 100 * (makespan - base) / makespan;
  state.SetLabel(answer->solver);
}

void Short(benchmark::internal::Benchmark* benchmark) {
  for (const int stages : {32, 64, 100}) {
    for (const int percent : {5, 30, 60, 90}) {
      benchmark->Args({stages, percent});
    }
  }
}

void Long(benchmark::internal::Benchmark* benchmark) {
  for (const int percent : {5, 30, 60, 90}) benchmark->Args({400, percent});
}

BENCHMARK_CAPTURE(RunSolver, mixed, kMixed)
    ->Apply(Short)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(RunSolver, correlated, kCorrelated)
    ->Apply(Short)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(RunSolver, proportional, kProportional)
    ->Apply(Short)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(RunSolver, layers, kLayers)
    ->Apply(Short)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(RunSolver, mixed, kMixed)
    ->Apply(Long)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(RunSolver, correlated, kCorrelated)
    ->Apply(Long)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(RunSolver, layers, kLayers)
    ->Apply(Long)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(RunSolver, mixed, kMixed)
    ->Args({1200, 30})
    ->Args({1200, 60})
    ->Unit(benchmark::kSecond)
    ->UseRealTime();

}  // namespace
}  // namespace meshwright::checkpoint

BENCHMARK_MAIN();
