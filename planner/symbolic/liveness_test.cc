#include "planner/symbolic/liveness.h"

#include <gtest/gtest.h>

#include <set>

#include "planner/symbolic/testing/random_graph.h"

namespace meshwright::symbolic {
namespace {

Footprint MeasureGraph(const OpGraph& graph) {
  const StorageMap map = MapStorage(graph);
  return Measure(graph, map, Readers(graph, map));
}

TEST(LivenessTest, AValueLivesToItsLastReader) {
  OpGraph graph;
  const int x = AddOperation(graph, Storage::kArgument, 100, {});
  const int a = AddOperation(graph, Storage::kOwn, 10, {x});
  const int b = AddOperation(graph, Storage::kOwn, 20, {a});
  const int c = AddOperation(graph, Storage::kOwn, 40, {b});
  AddOperation(graph, Storage::kOwn, 1, {c, x});
  Footprint footprint = MeasureGraph(graph);
  EXPECT_EQ(footprint.argument_bytes, 100);
  EXPECT_EQ(footprint.temporary_bytes, 60);  // b and c
  graph.operations[4].reads.push_back({a, 10});
  EXPECT_EQ(MeasureGraph(graph).temporary_bytes, 70);
  graph.outputs = {{c, {}}};
  footprint = MeasureGraph(graph);
  EXPECT_EQ(footprint.output_bytes, 40);
  EXPECT_EQ(footprint.temporary_bytes, 30);  // a and b
  EXPECT_EQ(footprint.peak_bytes, 170);
}

TEST(LivenessTest, InPlaceTakesOverADyingOperandOfItsSize) {
  OpGraph graph;
  const int x = AddOperation(graph, Storage::kArgument, 8, {});
  const int a = AddOperation(graph, Storage::kOwn, 8, {x});
  const int b = AddOperation(graph, Storage::kOwn, 8, {a});
  EXPECT_EQ(MeasureGraph(graph).temporary_bytes, 16);
  graph.operations[b].in_place = true;
  EXPECT_EQ(MeasureGraph(graph).temporary_bytes, 8);
  graph.operations[b].bytes = 4;
  EXPECT_EQ(MeasureGraph(graph).temporary_bytes, 12);
}

TEST(LivenessTest, NewStateIsWrittenOverTheOld) {
  OpGraph graph;
  const int weight = AddOperation(graph, Storage::kArgument, 64, {});
  const int updated = AddOperation(graph, Storage::kOwn, 64, {weight});
  graph.outputs = {{updated, weight}};
  Footprint footprint = MeasureGraph(graph);
  EXPECT_EQ(footprint.peak_bytes, 64);
  // Unless the old is still wanted.
  AddOperation(graph, Storage::kOwn, 1, {weight});
  footprint = MeasureGraph(graph);
  EXPECT_EQ(footprint.output_bytes, 0);
  EXPECT_EQ(footprint.temporary_bytes, 65);
}

TEST(LivenessTest, SavedIsWhatTheBackwardPassReads) {
  OpGraph graph;
  const int x = AddOperation(graph, Storage::kArgument, 64, {});
  const int a = AddOperation(graph, Storage::kOwn, 10, {x});
  const int b = AddOperation(graph, Storage::kOwn, 20, {a});
  const int gradient = AddOperation(graph, Storage::kOwn, 1, {x, a});
  AddOperation(graph, Storage::kOwn, 1, {b});
  graph.operations[gradient].forward = false;
  EXPECT_EQ(MeasureGraph(graph).saved_bytes, 10);
}

// The definition, one operation at a time and without a sweep.
int64_t MaxAtOnce(const OpGraph& graph) {
  const StorageMap map = MapStorage(graph);
  const auto readers = Readers(graph, map);
  const int count = static_cast<int>(graph.operations.size());
  // From which operation to which a value holds bytes; -1: never.
  std::vector<std::pair<int, int>> life(count, {-1, -1});
  for (int i = 0; i < count; ++i) {
    if (graph.operations[i].storage != Storage::kOwn || !map.stored[i]) {
      continue;
    }
    life[i] = {i, readers[i].empty() ? i : readers[i].back()};
  }
  std::set<int> plain;  // outputs that replace nothing
  for (const Output& it : graph.outputs) {
    if (!it.argument.has_value()) plain.insert(map.root[it.value]);
  }
  for (const Output& it : graph.outputs) {
    const int root = map.root[it.value];
    if (life[root].first < 0) continue;
    life[root].second = count;
    const bool read_later = it.argument.has_value() &&
                            !readers[*it.argument].empty() &&
                            readers[*it.argument].back() > root;
    if (plain.contains(root) || (it.argument.has_value() && !read_later)) {
      life[root] = {-1, -1};
    }
  }
  __int128 max_live = 0;
  for (int at = 0; at < count; ++at) {
    __int128 live = 0;
    bool takes_over = false;
    for (int i = 0; i < count; ++i) {
      if (life[i].first < 0 || at < life[i].first || at > life[i].second) {
        continue;
      }
      live += graph.operations[i].bytes;
      bool read_here = false;
      for (const Read& read : map.sources[at]) read_here |= read.value == i;
      takes_over |= read_here && life[i].second == at &&
                    graph.operations[i].bytes == graph.operations[at].bytes;
    }
    if (life[at].first >= 0 && graph.operations[at].in_place && takes_over) {
      live -= graph.operations[at].bytes;
    }
    if (map.stored[at] && live > max_live) max_live = live;
  }
  return static_cast<int64_t>(max_live);
}

TEST(LivenessTest, TheSweepIsTheDefinition) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const OpGraph graph = RandomGraph(seed, 4 + static_cast<int>(seed % 30));
    ASSERT_EQ(MeasureGraph(graph).temporary_bytes, MaxAtOnce(graph))
        << "seed " << seed;
  }
}

TEST(LivenessTest, SizesAtTheLimitsSaturate) {
  OpGraph graph;
  for (int i = 0; i < 3; ++i) {
    AddOperation(graph, Storage::kArgument, INT64_MAX, {});
  }
  for (int i = 0; i < 3; ++i) {
    AddOperation(graph, Storage::kOwn, INT64_MAX, {0});
  }
  AddOperation(graph, Storage::kOwn, INT64_MAX, {3, 4, 5});
  graph.operations.back().forward = false;
  graph.outputs = {{6, {}}};
  const Footprint footprint = MeasureGraph(graph);
  EXPECT_EQ(footprint.argument_bytes, INT64_MAX);
  EXPECT_EQ(footprint.temporary_bytes, INT64_MAX);
  EXPECT_EQ(footprint.peak_bytes, INT64_MAX);
  EXPECT_EQ(footprint.saved_bytes, INT64_MAX);
}

}  // namespace
}  // namespace meshwright::symbolic
