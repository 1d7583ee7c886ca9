#include "planner/checkpoint/testing/linearize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "planner/checkpoint/solve.h"

namespace meshwright::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

GraphNode Node(std::vector<int> parents, int64_t bytes = 10) {
  GraphNode node;
  node.name = "n";
  node.parents = std::move(parents);
  node.forward = Picoseconds(3);
  node.backward = Picoseconds(5);
  node.output_bytes = bytes;
  return node;
}

GraphNode Placeholder(int64_t bytes) {
  GraphNode node = Node({}, bytes);
  node.placeholder = true;
  return node;
}

Linearized Good(const std::vector<GraphNode>& graph) {
  auto result = Linearize(graph);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : Linearized{};
}

std::string Bad(const std::vector<GraphNode>& graph) {
  return std::string(Linearize(graph).status().message());
}

TEST(LinearizeTest, AResidualBlockIsOneGroup) {
  // 0 input; 1; 2 and 3 inside, 4 adds 1 and 3; 5.
  const Linearized result = Good({Placeholder(100), Node({0}), Node({1}),
                                  Node({2}), Node({1, 3}), Node({4}, 7)});
  EXPECT_THAT(result.groups, ElementsAre(ElementsAre(1), ElementsAre(2, 3, 4),
                                         ElementsAre(5)));
  const Chain& chain = result.chain;
  EXPECT_THAT(chain.act_bytes, ElementsAre(100, 10, 10, 7));
  EXPECT_EQ(chain.forward[1], Picoseconds(9));
  EXPECT_EQ(chain.backward[1], Picoseconds(15));
  // Nothing is said to be saved, but the output is.
  EXPECT_THAT(chain.saved_bytes, ElementsAre(10, 10, 7));
  // 2 and 3 at once.
  EXPECT_THAT(chain.forward_transient_bytes, ElementsAre(0, 20, 0));
}

TEST(LinearizeTest, SavedIsASumAndTransientsAreTheLargest) {
  std::vector<GraphNode> graph = {Placeholder(1), Node({0}), Node({1}, 4),
                                  Node({1, 2}, 6)};
  graph[1].saved_bytes = 30;
  graph[2].saved_bytes = 50;
  graph[3].saved_bytes = 2;
  graph[2].forward_transient_bytes = 100;
  graph[3].forward_transient_bytes = 90;
  graph[2].backward_transient_bytes = 8;
  graph[3].backward_transient_bytes = 9;
  const Linearized result = Good(graph);
  EXPECT_THAT(result.groups, ElementsAre(ElementsAre(1), ElementsAre(2, 3)));
  EXPECT_THAT(result.chain.saved_bytes, ElementsAre(30, 56));
  EXPECT_THAT(result.chain.forward_transient_bytes, ElementsAre(0, 104));
  EXPECT_THAT(result.chain.backward_transient_bytes, ElementsAre(0, 9));
}

TEST(LinearizeTest, AMaskThatEveryLayerReadsIsCommon) {
  // 0 input, 1 mask, 2 computed from the mask alone; layers read 2.
  std::vector<GraphNode> graph = {Placeholder(100), Placeholder(8),
                                  Node({1}, 16),    Node({0, 2}),
                                  Node({3, 2}),     Node({4, 2})};
  EXPECT_THAT(Good(graph).groups,
              ElementsAre(ElementsAre(2), ElementsAre(3, 4, 5)));
  graph[1].common = true;
  const Linearized result = Good(graph);
  EXPECT_TRUE(result.common[2]);
  EXPECT_FALSE(result.common[3]);
  EXPECT_THAT(result.groups,
              ElementsAre(ElementsAre(2, 3), ElementsAre(4), ElementsAre(5)));
  EXPECT_EQ(result.chain.act_bytes[0], 124);
}

TEST(LinearizeTest, CommunicationAndInPlaceStayWithTheirParents) {
  std::vector<GraphNode> graph = {Placeholder(1), Node({0}), Node({1}),
                                  Node({2}), Node({3})};
  EXPECT_EQ(Good(graph).groups.size(), 4);
  graph[2].communication = true;
  EXPECT_THAT(Good(graph).groups,
              ElementsAre(ElementsAre(1, 2), ElementsAre(3), ElementsAre(4)));
  graph[4].in_place = true;
  EXPECT_THAT(Good(graph).groups,
              ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4)));
}

TEST(LinearizeTest, AnAuxiliaryOutputIsAwaitedByTheOutput) {
  // 2 is a side result: read by the output only, which ends the graph.
  std::vector<GraphNode> graph = {Placeholder(1), Node({0}, 3), Node({1}, 5),
                                  Node({1}, 7)};
  graph.push_back(Placeholder(0));
  graph.back().parents = {2, 3};
  const Linearized result = Good(graph);
  EXPECT_THAT(result.groups, ElementsAre(ElementsAre(1), ElementsAre(2, 3)));
  EXPECT_EQ(result.chain.act_bytes.back(), 12);
}

// Every edge that crosses a boundary begins at the boundary's end, and no
// boundary that could be was left out.
TEST(LinearizeTest, BoundariesAreExactlyWhereOneValuePasses) {
  for (int seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const int nodes = 3 + static_cast<int>(random() % 14);
    std::vector<GraphNode> graph = {Placeholder(5)};
    for (int v = 1; v < nodes; ++v) {
      std::set<int> parents = {v - 1 -
                               static_cast<int>(random() % 3 == 0 && v > 1)};
      if (random() % 4 == 0) parents.insert(static_cast<int>(random() % v));
      graph.push_back(Node({parents.begin(), parents.end()}, 1 + random() % 9));
      graph[v].common = random() % 8 == 0;
      graph[v].communication = random() % 8 == 0;
      graph[v].in_place = random() % 8 == 0;
      graph[v].saved_bytes = random() % 20;
    }
    const auto result = Linearize(graph);
    ASSERT_TRUE(result.ok()) << result.status();
    std::vector<int> group(nodes, -1);
    int next = 1;
    for (size_t g = 0; g < result->groups.size(); ++g) {
      for (const int v : result->groups[g]) {
        EXPECT_EQ(v, next++);  // each once, in order
        group[v] = static_cast<int>(g);
      }
    }
    EXPECT_EQ(next, nodes);
    const auto counts = [&](int v) { return v > 0 && !result->common[v]; };
    // Whether a boundary right after v would be sound.
    const auto sound = [&](int v) {
      if (!counts(v)) return false;
      for (int child = 1; child < nodes; ++child) {
        for (const int parent : graph[child].parents) {
          if (child > v && parent < v && counts(parent)) return false;
          if (parent == v &&
              (graph[child].communication || graph[child].in_place)) {
            return false;
          }
        }
      }
      return true;
    };
    int last_end = 0;
    for (int v = 1; v < nodes; ++v) {
      if (sound(v)) last_end = v;
    }
    for (int v = 1; v + 1 < nodes; ++v) {
      const bool rest_is_common = v == last_end && [&] {
        for (int w = v + 1; w < nodes; ++w) {
          if (counts(w)) return false;
        }
        return true;
      }();
      EXPECT_EQ(group[v] != group[v + 1], sound(v) && !rest_is_common)
          << "seed " << seed << " after " << v;
    }
    EXPECT_EQ(result->chain.stages(), result->groups.size());
    EXPECT_TRUE(Solve(result->chain, 1 << 20).ok());
  }
}

TEST(LinearizeTest, OrderOfTheNodesDoesNotMatter) {
  // 2 before its parent 1.
  std::vector<GraphNode> graph = {Placeholder(1), Node({2}), Node({0})};
  EXPECT_THAT(Good(graph).groups, ElementsAre(ElementsAre(2), ElementsAre(1)));
}

TEST(LinearizeTest, NamesTheNodeThatIsWrong) {
  EXPECT_THAT(Bad({}), HasSubstr("no node that computes"));
  EXPECT_THAT(Bad({Placeholder(1)}), HasSubstr("no node that computes"));
  EXPECT_THAT(Bad({Placeholder(1), Node({7})}),
              HasSubstr("parents of node 1 (n) name 7"));
  EXPECT_THAT(Bad({Placeholder(1), Node({0, 2}), Node({1})}),
              HasSubstr("node 1 (n) is on or behind a cycle"));
  EXPECT_THAT(Bad({Placeholder(1), Node({0}, -4)}),
              HasSubstr("output_bytes of node 1 (n) is negative: -4"));
  std::vector<GraphNode> graph = {Placeholder(1), Node({0})};
  graph[1].backward = Picoseconds(-1);
  EXPECT_THAT(Bad(graph), HasSubstr("backward of node 1"));
  graph[1] = Node({0}, int64_t{1} << 62);
  EXPECT_THAT(Bad(graph), HasSubstr("sum to more"));
  std::vector<GraphNode> deep = {Placeholder(1)};
  for (int v = 1; v <= kMaxStages + 1; ++v) deep.push_back(Node({v - 1}));
  EXPECT_THAT(Bad(deep), HasSubstr("join neighbours"));
}

}  // namespace
}  // namespace meshwright::checkpoint
