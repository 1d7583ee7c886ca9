#include "planner/symbolic/memories.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "planner/symbolic/testing/random_graph.h"

namespace meshwright::symbolic {
namespace {

std::vector<Memories> OfOperators(const OpGraph& graph) {
  const StorageMap map = MapStorage(graph);
  std::vector<std::optional<int>> set_of;
  for (const Operation& it : graph.operations) set_of.push_back(it.op);
  return MeasureMemories(graph, map, Readers(graph, map), set_of,
                         graph.operators);
}

// y = x w, dx = g w, dw = x g: the paper's node.
TEST(MemoriesTest, AContractionKeepsItsInputAndGivesAGradientOfItsSize) {
  OpGraph graph;
  const int batch = AddOperation(graph, Storage::kArgument, 100, {});
  const int weight = AddOperation(graph, Storage::kArgument, 50, {});
  const int x = AddOperation(graph, Storage::kOwn, 40, {batch});
  const int y = AddOperation(graph, Storage::kOwn, 20, {x, weight});
  const int loss = AddOperation(graph, Storage::kOwn, 4, {y});
  const int g = AddOperation(graph, Storage::kOwn, 20, {loss});
  const int dx = AddOperation(graph, Storage::kOwn, 40, {g, weight});
  const int dw = AddOperation(graph, Storage::kOwn, 50, {x, g});
  const int updated = AddOperation(graph, Storage::kOwn, 50, {weight, dw});
  const int rest = AddOperation(graph, Storage::kOwn, 8, {dx});
  graph.outputs = {{loss, {}}, {updated, weight}, {rest, {}}};
  for (int i = g; i <= rest; ++i) graph.operations[i].forward = false;
  for (int i : {dx, dw}) graph.operations[i].op = graph.operations[y].op;
  const std::vector<Memories> memories = OfOperators(graph);
  const Memories& it = memories[graph.operations[y].op];
  EXPECT_EQ(it, (Memories{.fwd_in = 40, .fwd_out = 20, .bwd_out = 90}));
  // The update writes over the weight.
  EXPECT_EQ(memories[graph.operations[updated].op], Memories{});
}

TEST(MemoriesTest, WhatASetMakesAndReadsIsTemporary) {
  OpGraph graph;
  const int x = AddOperation(graph, Storage::kArgument, 1, {});
  const int a = AddOperation(graph, Storage::kOwn, 8, {x});
  const int b = AddOperation(graph, Storage::kOwn, 16, {a});
  const int c = AddOperation(graph, Storage::kOwn, 32, {b});
  const int outside = AddOperation(graph, Storage::kOwn, 1, {c});
  for (int i : {x, a, b, c}) graph.operations[i].op = 0;
  graph.operations[outside].op = 1;
  graph.operators = 2;
  std::vector<Memories> memories = OfOperators(graph);
  EXPECT_EQ(memories[0], (Memories{.fwd_tmp = 24, .fwd_out = 32}));
  // Kept for the backward pass, it is no temporary.
  const int gradient = AddOperation(graph, Storage::kOwn, 1, {a});
  graph.operations[gradient].forward = false;
  memories = OfOperators(graph);
  EXPECT_EQ(memories[0], (Memories{.fwd_in = 8, .fwd_tmp = 16, .fwd_out = 32}));
}

// Every value's figure, counted by sets of readers instead of flags and sweeps.
std::vector<Memories> ByDefinition(const OpGraph& graph) {
  const StorageMap map = MapStorage(graph);
  const auto readers = Readers(graph, map);
  const int count = static_cast<int>(graph.operations.size());
  std::vector<Memories> all(graph.operators);
  std::vector<std::vector<int>> inner[2];
  for (auto& part : inner) part.resize(graph.operators);
  for (int v = 0; v < count; ++v) {
    const Operation& it = graph.operations[v];
    if (it.storage != Storage::kOwn || !map.stored[v]) continue;
    std::set<int> same_pass;
    bool backward_reads = false;
    for (int reader : readers[v]) {
      const Operation& of = graph.operations[reader];
      if (of.forward == it.forward) same_pass.insert(of.op);
      backward_reads |= !of.forward;
    }
    bool plain = false;
    bool state = false;
    for (const Output& output : graph.outputs) {
      if (map.root[output.value] != v) continue;
      (output.argument.has_value() ? state : plain) = true;
    }
    const bool saved = it.forward && backward_reads;
    same_pass.erase(it.op);
    Memories& own = all[it.op];
    if (!same_pass.empty() || plain) {
      (it.forward ? own.fwd_out : own.bwd_out) += it.bytes;
    } else if (saved) {
      own.fwd_in += it.bytes;
    } else if (!state) {
      inner[it.forward][it.op].push_back(v);
    }
    for (int op : same_pass) {
      if (saved) all[op].fwd_in += it.bytes;
    }
  }
  for (int part = 0; part < 2; ++part) {
    for (int op = 0; op < graph.operators; ++op) {
      for (int at = 0; at < count; ++at) {
        int64_t live = 0;
        for (int v : inner[part][op]) {
          const int last = readers[v].empty() ? v : readers[v].back();
          if (v <= at && at <= last) live += graph.operations[v].bytes;
        }
        int64_t& peak = part == 1 ? all[op].fwd_tmp : all[op].bwd_tmp;
        peak = std::max(peak, live);
      }
    }
  }
  return all;
}

TEST(MemoriesTest, TheAccountIsTheDefinition) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const OpGraph graph = RandomGraph(seed, 4 + static_cast<int>(seed % 30));
    ASSERT_EQ(OfOperators(graph), ByDefinition(graph)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace meshwright::symbolic
