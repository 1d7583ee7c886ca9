// The chain search on chains like a deep transformer: an embedding, `depth`
// copies of a segment of 81 configurations, and a head.
//
//   build/release/bin/search_bench
//
// Times are those of Solve: validation, search, evaluation; no JSON.
#include <benchmark/benchmark.h>

#include <random>

#include "planner/search/search.h"

namespace meshwright::search {
namespace {

using problem::Picoseconds;
using problem::PlanProblem;

constexpr int kConfigs = 81;
constexpr int kEndConfigs = 9;

// Times of 27 to 64 ms and 0 to 4 ms of resharding, as were measured for a
// LLaMA layer; memory falls as time rises, so that a limit has to be traded.
PlanProblem Transformer(int64_t depth) {
  std::mt19937_64 random(81);
  const auto between = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low));
  };
  const auto type = [&](const char* name, int configs) {
    problem::NodeType made{name, {}};
    for (int c = 0; c < configs; ++c) {
      const int64_t time = between(27'000'000'000, 64'000'000'000);
      const int64_t bytes = (70'000'000'000 - time) / 100;
      made.configs.push_back({Picoseconds(time), bytes + between(0, 50'000'000),
                              between(0, 100'000'000),
                              between(0, 200'000'000)});
    }
    return made;
  };
  const auto table = [&](int rows, int columns) {
    problem::Table made{rows, columns, {}};
    for (int i = 0; i < rows * columns; ++i) {
      made.entries.push_back(Picoseconds(between(0, 4'000'000'000)));
    }
    return made;
  };
  PlanProblem made;
  made.types = {type("embedding", kEndConfigs), type("layer", kConfigs),
                type("head", kEndConfigs)};
  made.nodes = {{.type = 0}, {.type = 1, .repeat = depth}, {.type = 2}};
  made.tables = {table(kEndConfigs, kConfigs), table(kConfigs, kConfigs),
                 table(kConfigs, kEndConfigs), table(kEndConfigs, kEndConfigs)};
  made.edges = {{0, 1, 0}, {1, 2, 2}};
  made.self_edges = {{1, 1}};
  return made;
}

void Report(benchmark::State& state, const Answer& answer) {
  state.counters["gap"] = answer.Gap();
  state.counters["seconds"] =
      problem::ToSeconds(answer.plan.value_or(Plan{}).time);
}

void Run(benchmark::State& state, const PlanProblem& problem) {
  for (auto _ : state) {
    auto answer = Solve(problem);
    if (!answer.ok() || !answer->plan.has_value()) {
      state.SkipWithError("no plan");
      return;
    }
    benchmark::DoNotOptimize(answer);
    Report(state, *answer);
  }
}

void BM_Chain(benchmark::State& state) {
  Run(state, Transformer(state.range(0)));
}
BENCHMARK(BM_Chain)->Arg(24)->Arg(1000)->Arg(100000)->Unit(
    benchmark::kMillisecond);

// Two configurations a picosecond apart: values never settle, so the run is
// folded by powers.
void BM_ChainByPowers(benchmark::State& state) {
  PlanProblem problem = Transformer(state.range(0));
  for (const int c : {3, 40}) {
    problem.types[1].configs[c].time = Picoseconds(1'000'000'000 + c);
    problem.tables[1].entries[c * kConfigs + c] = Picoseconds(0);
  }
  for (int c = 0; c < kEndConfigs; ++c) {
    problem.tables[2].entries[40 * kEndConfigs + c] = Picoseconds(0);
    problem.tables[2].entries[3 * kEndConfigs + c] = Picoseconds(9'000'000'000);
  }
  Run(state, problem);
}
BENCHMARK(BM_ChainByPowers)
    ->Arg(1000)
    ->Arg(100000)
    ->Unit(benchmark::kMillisecond);

// The head shares the embedding's weight: an edge off the chain.
void BM_TiedEmbedding(benchmark::State& state) {
  PlanProblem problem = Transformer(state.range(0));
  problem.edges.push_back({0, 2, 3});
  Run(state, problem);
}
BENCHMARK(BM_TiedEmbedding)->Arg(24)->Arg(1000)->Unit(benchmark::kMillisecond);

// A limit midway, in percent, between the least memory and the fastest plan's.
void BM_MemoryLimit(benchmark::State& state) {
  PlanProblem problem = Transformer(state.range(0));
  const auto fastest = Solve(problem);
  problem.memory_limit_bytes = 0;
  const auto frugal = Solve(problem);
  const int64_t least = *frugal->least_memory_bytes;
  problem.memory_limit_bytes =
      least + (fastest->plan->peak_bytes - least) * state.range(1) / 100;
  Run(state, problem);
}
BENCHMARK(BM_MemoryLimit)
    ->ArgsProduct({{12, 24}, {5, 50, 95}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace meshwright::search

BENCHMARK_MAIN();
