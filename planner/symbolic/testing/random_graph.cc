#include "planner/symbolic/testing/random_graph.h"

#include <random>

namespace meshwright::symbolic {

OpGraph RandomGraph(uint64_t seed, int operations) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t limit) {
    return static_cast<int>(random() % static_cast<uint64_t>(limit));
  };
  OpGraph graph;
  graph.operators = 1 + below(operations);
  graph.segments = 1 + below(3);
  const int barrier = operations / 2;  // forward before, backward after
  for (int i = 0; i < operations; ++i) {
    Operation it;
    it.counts = {below(100), below(4) == 0 ? 1 : 0};
    it.bytes = 8 * (1 + below(4));
    it.written_bytes = it.bytes;
    it.trips = 1 + below(3);
    it.forward = i < barrier;
    it.op = below(graph.operators);
    const int segment = below(graph.segments + 1);
    if (segment > 0) it.segment = segment - 1;
    it.fusible = below(2) == 0;
    it.absorbs = below(4) != 0;
    it.in_place = below(2) == 0;
    const int reads = i == 0 ? 0 : below(4);
    for (int k = 0; k < reads; ++k) {
      const int value = below(i);
      it.reads.push_back({value, graph.operations[value].bytes});
    }
    if (reads == 0) {
      it.storage = below(4) == 0 ? Storage::kConstant : Storage::kArgument;
    } else if (below(5) == 0) {
      it.storage = Storage::kView;
    }
    graph.operations.push_back(it);
  }
  const int outputs = below(4);
  for (int k = 0; k < outputs; ++k) {
    Output output{below(operations), {}};
    const int argument = below(operations);
    if (graph.operations[argument].storage == Storage::kArgument &&
        below(2) == 0) {
      output.argument = argument;
    }
    graph.outputs.push_back(output);
  }
  return graph;
}

int AddOperation(OpGraph& graph, Storage storage, int64_t bytes,
                 std::initializer_list<int> operands) {
  Operation it;
  it.storage = storage;
  it.bytes = bytes;
  it.written_bytes = storage == Storage::kOwn ? bytes : 0;
  for (int value : operands) {
    it.reads.push_back({value, graph.operations[value].bytes});
  }
  it.op = graph.operators++;
  graph.operations.push_back(it);
  return static_cast<int>(graph.operations.size()) - 1;
}

}  // namespace meshwright::symbolic
