#include "tests/bench/search_shapes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace meshwright::search {
namespace {

using problem::Picoseconds;
using problem::PlanProblem;

constexpr int kConfigs = 81;
constexpr int kEndConfigs = 9;

}  // namespace

const char* ToString(Data data) {
  switch (data) {
    case Data::kNoisy:
      return "noisy";
    case Data::kSmooth:
      return "smooth";
    case Data::kHard:
      return "knapsack";
    case Data::kEqual:
      return "equal ratios";
    case Data::kPlain:
      return "subset sum";
  }
  return "";
}

problem::Config Maker::Config() {
  const int64_t time = Between(27'000'000'000, 64'000'000'000);
  const int64_t line = (70'000'000'000 - time) / 100;
  switch (data_) {
    case Data::kNoisy:
      return {Picoseconds(time), line + Between(0, 50'000'000),
              Between(0, 100'000'000), Between(0, 200'000'000)};
    case Data::kSmooth: {
      const double slowness = static_cast<double>(time) / 27e9;
      const auto bytes = static_cast<int64_t>(6e8 / slowness);
      return {Picoseconds(time), bytes / 2 + Between(0, 1'000'000), bytes / 2,
              static_cast<int64_t>(2e8 / std::sqrt(slowness))};
    }
    case Data::kHard:
      return {Picoseconds(time + Between(0, 4'000'000)), line,
              Between(0, 40'000), Between(0, 200'000'000)};
    case Data::kEqual:
      return {Picoseconds(time), (70'000'000'000 - time) / 128, 0,
              Between(0, 200'000'000)};
    case Data::kPlain:
      return {Picoseconds(time / 128 * 128), (70'000'000'000 - time) / 128, 0,
              0};
  }
  return {};
}

int Maker::Type(const char* name, int configs) {
  problem::NodeType made{name, {}};
  for (int c = 0; c < configs; ++c) made.configs.push_back(Config());
  problem.types.push_back(std::move(made));
  return static_cast<int>(problem.types.size()) - 1;
}

int Maker::Node(int type, int64_t repeat) {
  problem.nodes.push_back({.type = type, .repeat = repeat});
  return static_cast<int>(problem.nodes.size()) - 1;
}

int Maker::Table(int from_type, int to_type) {
  const int rows = problem.types[from_type].configs.size();
  const int columns = problem.types[to_type].configs.size();
  problem::Table made{rows, columns, {}};
  for (int i = 0; i < rows * columns; ++i) {
    made.entries.push_back(
        Picoseconds(data_ == Data::kPlain ? 0 : Between(0, max_resharding)));
  }
  problem.tables.push_back(std::move(made));
  return static_cast<int>(problem.tables.size()) - 1;
}

void Maker::Edge(int from, int to) {
  const int table = Table(problem.nodes[from].type, problem.nodes[to].type);
  problem.edges.push_back({from, to, table});
}

PlanProblem Transformer(int64_t depth, uint64_t seed, Data data) {
  Maker maker(seed, data);
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

PlanProblem TiedEmbedding(int64_t depth) {
  PlanProblem problem = Transformer(depth, 81, Data::kNoisy);
  const int ends = problem.tables.size();
  problem.tables.push_back(
      {kEndConfigs, kEndConfigs,
       std::vector<std::optional<Picoseconds>>(kEndConfigs * kEndConfigs,
                                               Picoseconds(1'000'000'000))});
  for (int c = 0; c < kEndConfigs; ++c) {
    problem.tables.back().entries[c * kEndConfigs + c] = Picoseconds(0);
  }
  problem.edges.push_back({0, 2, ends});
  return problem;
}

PlanProblem Unsettled(int64_t depth) {
  PlanProblem problem = Transformer(depth, 81, Data::kNoisy);
  for (const int c : {3, 40}) {
    problem.types[1].configs[c].time = Picoseconds(1'000'000'000 + c);
    problem.tables[1].entries[c * kConfigs + c] = Picoseconds(0);
  }
  for (int c = 0; c < kEndConfigs; ++c) {
    problem.tables[2].entries[40 * kEndConfigs + c] = Picoseconds(0);
    problem.tables[2].entries[3 * kEndConfigs + c] = Picoseconds(9'000'000'000);
  }
  return problem;
}

PlanProblem Skips(int nodes, int configs, int skips, uint64_t seed, Data data) {
  Maker maker(seed, data);
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

PlanProblem Operators(int nodes, int configs, uint64_t seed, Data data) {
  constexpr int kLive = 4;  // results that the next operator may read
  Maker maker(seed, data);
  for (int n = 0; n < nodes; ++n) {
    maker.Node(maker.Type("operator", configs));
    if (n == 0) continue;
    maker.Edge(n - 1, n);
    if (n > 1 && maker.Between(0, 2) == 0) {
      maker.Edge(maker.Between(std::max(0, n - kLive), n - 1), n);
    }
    if (n > kLive && maker.Between(0, 10) == 0) {
      maker.Edge(maker.Between(0, n - kLive), n);
    }
  }
  return maker.problem;
}

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

PlanProblem Dense(int nodes, int configs) {
  Maker maker(9);
  for (int n = 0; n < nodes; ++n) {
    maker.Node(maker.Type("segment", configs));
    for (int from = 0; from < n; ++from) maker.Edge(from, n);
  }
  return maker.problem;
}

}  // namespace meshwright::search
