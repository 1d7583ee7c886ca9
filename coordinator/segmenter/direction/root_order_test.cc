#include "coordinator/segmenter/direction/root_order.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace meshwright::segmenter {
namespace {

struct Graph {
  std::vector<std::vector<ir::ValueId>> operands;
  std::vector<char> is_root;
};

Graph RandomGraph(unsigned seed, int values) {
  std::mt19937 random(seed);
  Graph graph;
  for (int id = 0; id < values; ++id) {
    std::vector<ir::ValueId> operands;
    for (unsigned k = random() % 3; k > 0 && id > 0; --k) {
      const int above = 1 + static_cast<int>(random() % std::min(id, 9));
      operands.emplace_back(id - above);
    }
    graph.operands.push_back(operands);
    graph.is_root.push_back(random() % 3 == 0);
  }
  return graph;
}

TEST(RootOrderTest, AgreesWithSetsOfAncestors) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    const Graph graph = RandomGraph(seed, 120);
    RootOrder order(120);
    std::vector<std::set<int>> at_or_above(120);
    std::vector<std::set<int>> above;  // by root
    for (const ir::ValueId id : base::IndexRange<ir::ValueId>(120)) {
      order.Follow(id, graph.operands[id]);
      for (ir::ValueId operand : graph.operands[id]) {
        at_or_above[id].insert(at_or_above[operand].begin(),
                               at_or_above[operand].end());
      }
      if (!graph.is_root[id]) continue;
      above.push_back(at_or_above[id]);
      at_or_above[id].insert(order.Open(id));
    }
    EXPECT_FALSE(order.is_cut_short());
    std::mt19937 random(seed);
    const int roots = static_cast<int>(above.size());
    for (int trial = 0; trial < 500; ++trial) {
      std::set<int> sides[2];
      RootOrder::Group groups[2];
      for (int side = 0; side < 2; ++side) {
        sides[side] = {static_cast<int>(random() % roots)};
        groups[side] = order.MakeGroup(*sides[side].begin());
        for (int more = static_cast<int>(random() % 3); more > 0; --more) {
          const int root = static_cast<int>(random() % roots);
          if (!sides[side].insert(root).second) continue;
          groups[side] = order.Join(groups[side], order.MakeGroup(root));
        }
      }
      bool unrelated = true;
      for (int x : sides[0]) {
        for (int y : sides[1]) {
          unrelated &= !above[x].contains(y) && !above[y].contains(x);
        }
      }
      EXPECT_EQ(order.Unrelated(groups[0], groups[1]), unrelated)
          << "seed " << seed << " trial " << trial;
    }
  }
}

TEST(RootOrderTest, FallsBackToDepthWhereListsWouldOutgrowTheGraph) {
  // Every sum reaches one root more than the sum before it.
  constexpr int kRoots = 4000;
  RootOrder order(2 * kRoots + 1);
  using ir::ValueId;
  for (const ValueId id : base::IndexRange<ValueId>(kRoots)) {
    order.Follow(id, {});
    order.Open(id);
  }
  for (int k = 0; k < kRoots; ++k) {
    const int id = kRoots + k;
    order.Follow(ValueId(id), {ValueId(k == 0 ? 0 : id - 1), ValueId(k)});
  }
  order.Follow(ValueId(2 * kRoots), {ValueId(2 * kRoots - 1)});
  const int last = order.Open(ValueId(2 * kRoots));
  EXPECT_EQ(order.depth(last), 2);
  EXPECT_TRUE(order.Unrelated(order.MakeGroup(0), order.MakeGroup(kRoots - 1)));
  EXPECT_FALSE(
      order.Unrelated(order.MakeGroup(kRoots - 1), order.MakeGroup(last)));
  EXPECT_TRUE(order.is_cut_short());
}

}  // namespace
}  // namespace meshwright::segmenter
