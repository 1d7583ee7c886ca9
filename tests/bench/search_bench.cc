// The search on problems shaped like models: deep chains, encoder-decoders,
// U-shaped networks and chains with skip edges; free and under a limit.
//
//   build/release/bin/search_bench
//
// Times are those of Solve: validation, search, evaluation; no JSON. `gap` is
// what the answer leaves unproved.
#include <benchmark/benchmark.h>

#include <random>

#include "planner/search/search.h"

namespace meshwright::search {
namespace {

using problem::Picoseconds;
using problem::PlanProblem;

constexpr int kConfigs = 81;
constexpr int kEndConfigs = 9;

// Makes types and tables whose figures are like those measured for a LLaMA
// layer: 27 to 64 ms, 0 to 4 ms of resharding; memory falls as time rises, so
// that a limit has to be traded.
class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % (high - low));
  }

  int Type(const char* name, int configs) {
    problem::NodeType made{name, {}};
    for (int c = 0; c < configs; ++c) {
      const int64_t time = Between(27'000'000'000, 64'000'000'000);
      const int64_t bytes = (70'000'000'000 - time) / 100;
      made.configs.push_back({Picoseconds(time), bytes + Between(0, 50'000'000),
                              Between(0, 100'000'000),
                              Between(0, 200'000'000)});
    }
    problem.types.push_back(std::move(made));
    return static_cast<int>(problem.types.size()) - 1;
  }

  int Node(int type, int64_t repeat = 1) {
    problem.nodes.push_back({.type = type, .repeat = repeat});
    return static_cast<int>(problem.nodes.size()) - 1;
  }

  int Table(int from_type, int to_type) {
    const int rows = problem.types[from_type].configs.size();
    const int columns = problem.types[to_type].configs.size();
    problem::Table made{rows, columns, {}};
    for (int i = 0; i < rows * columns; ++i) {
      made.entries.push_back(Picoseconds(Between(0, most_resharding)));
    }
    problem.tables.push_back(std::move(made));
    return static_cast<int>(problem.tables.size()) - 1;
  }

  // With a table of its own.
  void Edge(int from, int to) {
    const int table = Table(problem.nodes[from].type, problem.nodes[to].type);
    problem.edges.push_back({from, to, table});
  }

  PlanProblem problem;
  int64_t most_resharding = 4'000'000'000;

 private:
  std::mt19937_64 random_;
};

PlanProblem Transformer(int64_t depth) {
  Maker maker(81);
  const int embedding = maker.Type("embedding", kEndConfigs);
  const int layer = maker.Type("layer", kConfigs);
  const int head = maker.Type("head", kEndConfigs);
  maker.Node(embedding);
  maker.Node(layer, depth);
  maker.Node(head);
  maker.Edge(0, 1);
  maker.problem.self_edges = {{layer, maker.Table(layer, layer)}};
  maker.Edge(1, 2);
  return maker.problem;
}

// A chain of nodes, all different, with edges that skip some of them.
PlanProblem Skips(int nodes, int configs, int skips, uint64_t seed,
                  int64_t most_resharding) {
  Maker maker(seed);
  maker.most_resharding = most_resharding;
  for (int n = 0; n < nodes; ++n) {
    maker.Node(maker.Type("segment", configs));
    if (n > 0) maker.Edge(n - 1, n);
  }
  for (int s = 0; s < skips; ++s) {
    const int from = maker.Between(0, nodes - 2);
    maker.Edge(from, maker.Between(from + 2, nodes));
  }
  return maker.problem;
}

// An encoder of equal layers, whose last output every decoder layer reads; a
// decoder layer is cut in three.
PlanProblem EncoderDecoder(int layers) {
  Maker maker(5);
  const int encoder = maker.Type("encoder layer", kConfigs);
  const int parts[] = {maker.Type("self attention", kConfigs),
                       maker.Type("cross attention", kConfigs),
                       maker.Type("feed forward", kConfigs)};
  const int head = maker.Type("head", kEndConfigs);
  const int hub = maker.Node(encoder, layers);
  maker.problem.self_edges = {{encoder, maker.Table(encoder, encoder)}};
  const int inside[] = {maker.Table(parts[2], parts[0]),
                        maker.Table(parts[0], parts[1]),
                        maker.Table(parts[1], parts[2])};
  const int cross = maker.Table(encoder, parts[1]);
  int last = -1;
  for (int layer = 0; layer < layers; ++layer) {
    for (int part = 0; part < 3; ++part) {
      const int node = maker.Node(parts[part]);
      if (last >= 0) maker.problem.edges.push_back({last, node, inside[part]});
      if (part == 1) maker.problem.edges.push_back({hub, node, cross});
      last = node;
    }
  }
  maker.Edge(last, maker.Node(head));
  return maker.problem;
}

// Nodes down and up again, each level joined across; `embedding`: a first node
// that every other reads, as the time step of a diffusion model.
PlanProblem UNet(int nodes, int configs, bool embedding) {
  Maker maker(7);
  const int time = embedding ? maker.Node(maker.Type("time", kEndConfigs)) : 0;
  const int first = embedding ? 1 : 0;
  for (int n = 0; n < nodes; ++n) {
    const int node = maker.Node(maker.Type("block", configs));
    if (n > 0) maker.Edge(node - 1, node);
    if (embedding) maker.Edge(time, node);
  }
  for (int n = 0; n + 2 < nodes - n; ++n) {
    maker.Edge(first + n, first + nodes - 1 - n);
  }
  return maker.problem;
}

void Run(benchmark::State& state, const PlanProblem& problem,
         double seconds = 1000) {
  for (auto _ : state) {
    Options options;
    options.deadline = std::chrono::steady_clock::now() +
                       std::chrono::microseconds(int64_t(seconds * 1e6));
    auto answer = Solve(problem, options);
    if (!answer.ok() || !answer->plan.has_value()) {
      state.SkipWithError("no plan");
      return;
    }
    benchmark::DoNotOptimize(answer);
    state.counters["gap"] = answer->Gap();
    state.counters["seconds"] = problem::ToSeconds(answer->plan->time);
  }
}

// A limit, in percent, between the least memory and the fastest plan's.
void RunLimited(benchmark::State& state, PlanProblem problem, int percent,
                double seconds = 1000) {
  const auto fastest = Solve(problem);
  problem.memory_limit_bytes = 0;
  const auto frugal = Solve(problem);
  const int64_t least = *frugal->least_memory_bytes;
  problem.memory_limit_bytes =
      least + (fastest->plan->peak_bytes - least) * percent / 100;
  Run(state, problem, seconds);
}

void BM_Chain(benchmark::State& state) {
  Run(state, Transformer(state.range(0)));
}
BENCHMARK(BM_Chain)->Arg(24)->Arg(1000)->Arg(100000)->Unit(
    benchmark::kMillisecond);

// Two configurations a picosecond apart: values never settle, so the run is
// walked or folded by powers.
void BM_ChainUnsettled(benchmark::State& state) {
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
BENCHMARK(BM_ChainUnsettled)
    ->Arg(1000)
    ->Arg(100000)
    ->Unit(benchmark::kMillisecond);

void BM_ChainLimited(benchmark::State& state) {
  RunLimited(state, Transformer(state.range(0)), state.range(1));
}
BENCHMARK(BM_ChainLimited)
    ->ArgsProduct({{12, 24, 48, 100, 1000}, {5, 50, 95}})
    ->Unit(benchmark::kMillisecond);

// The same with a deadline, in milliseconds.
void BM_ChainLimitedWithin(benchmark::State& state) {
  RunLimited(state, Transformer(state.range(0)), 50, state.range(1) / 1e3);
}
BENCHMARK(BM_ChainLimitedWithin)
    ->ArgsProduct({{1000}, {50, 100, 200, 500, 1000}})
    ->Unit(benchmark::kMillisecond);

// The head shares the embedding's weight: an edge off the chain.
void BM_TiedEmbedding(benchmark::State& state) {
  PlanProblem problem = Transformer(state.range(0));
  const int ends = problem.tables.size();
  problem.tables.push_back(
      {kEndConfigs, kEndConfigs,
       std::vector<std::optional<Picoseconds>>(kEndConfigs * kEndConfigs,
                                               Picoseconds(1'000'000'000))});
  for (int c = 0; c < kEndConfigs; ++c) {
    problem.tables.back().entries[c * kEndConfigs + c] = Picoseconds(0);
  }
  problem.edges.push_back({0, 2, ends});
  if (state.range(1) == 0) return Run(state, problem);
  RunLimited(state, problem, state.range(1));
}
BENCHMARK(BM_TiedEmbedding)
    ->ArgsProduct({{24, 1000}, {0, 50}})
    ->Unit(benchmark::kMillisecond);

// Seed, resharding in ms, percent of the limit; 0: none.
void BM_Skips(benchmark::State& state) {
  const PlanProblem problem =
      Skips(60, 30, 10, state.range(0), state.range(1) * 1'000'000'000);
  if (state.range(2) == 0) return Run(state, problem);
  RunLimited(state, problem, state.range(2));
}
BENCHMARK(BM_Skips)
    ->ArgsProduct({{1, 2, 3}, {4, 40}, {0, 5, 50, 95}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void BM_EncoderDecoder(benchmark::State& state) {
  const PlanProblem problem = EncoderDecoder(state.range(0));
  if (state.range(1) == 0) return Run(state, problem);
  RunLimited(state, problem, state.range(1));
}
BENCHMARK(BM_EncoderDecoder)
    ->ArgsProduct({{24}, {0, 5, 50, 95}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void BM_UNet(benchmark::State& state) {
  const PlanProblem problem = UNet(40, state.range(0), state.range(1) == 1);
  if (state.range(2) == 0) return Run(state, problem);
  RunLimited(state, problem, state.range(2));
}
BENCHMARK(BM_UNet)
    ->ArgsProduct({{27, 81}, {0, 1}, {0, 50}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// Every node reads every earlier one: no table can hold this.
void BM_Dense(benchmark::State& state) {
  Maker maker(9);
  for (int n = 0; n < state.range(0); ++n) {
    maker.Node(maker.Type("segment", state.range(1)));
    for (int from = 0; from < n; ++from) maker.Edge(from, n);
  }
  Run(state, maker.problem);
}
BENCHMARK(BM_Dense)->Args({12, 27})->Args({30, 27})->Iterations(1)->Unit(
    benchmark::kMillisecond);

}  // namespace
}  // namespace meshwright::search

BENCHMARK_MAIN();
