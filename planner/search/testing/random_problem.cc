#include "planner/search/testing/random_problem.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace meshwright::search {
namespace {

using problem::Picoseconds;
using problem::PlanProblem;

class Generator {
 public:
  Generator(uint64_t seed, const Kinds& kinds) : random_(seed), kinds_(kinds) {}

  PlanProblem Make() {
    spread_ = Below(2) == 0 ? 3 : 40;  // few values make many ties
    const int types = 1 + Below(3);
    for (int t = 0; t < types; ++t) made_.types.push_back(MakeType());
    int copies = 0;
    while (copies < kinds_.copies && Nodes() < kinds_.nodes) {
      problem::Node node{.type = Below(types), .repeat = 1 + Below(4)};
      if (kinds_.skeleton != Skeleton::kChain && Below(2) == 0) node.repeat = 1;
      node.tied = kinds_.tied && Below(3) == 0;
      copies += node.tied ? 1 : static_cast<int>(node.repeat);
      made_.nodes.push_back(node);
    }
    MakeEdges();
    for (int t = 0; t < types; ++t) {
      if (Below(3) > 0) made_.self_edges.push_back({t, PickTable(t, t)});
    }
    for (int i = kinds_.fixed ? Below(3) : 0; i > 0; --i) Fix(Below(Nodes()));
    if (kinds_.limit) made_.memory_limit_bytes = Below(copies * 2 * spread_);
    return std::move(made_);
  }

 private:
  int Below(int bound) { return static_cast<int>(random_() % bound); }
  int Nodes() const { return static_cast<int>(made_.nodes.size()); }
  int Configs(int type) const {
    return static_cast<int>(made_.types[type].configs.size());
  }

  problem::NodeType MakeType() {
    problem::NodeType type;
    for (int c = 1 + Below(kinds_.configs); c > 0; --c) {
      type.configs.push_back({Picoseconds(Below(spread_)), Below(spread_),
                              Below(spread_), Below(2 * spread_)});
    }
    return type;
  }

  void MakeEdges() {
    const int nodes = Nodes();
    std::vector<int> order(nodes);
    for (int n = 0; n < nodes; ++n) order[n] = n;
    if (kinds_.shuffled) std::shuffle(order.begin(), order.end(), random_);
    for (int i = 0; i + 1 < nodes; ++i) {
      if (kinds_.gaps && Below(4) == 0) continue;
      AddEdge(order[i], order[i + 1]);
    }
    for (int i = kinds_.skips ? Below(3) : 0; i > 0 && nodes > 1; --i) {
      const int from = Below(nodes - 1);
      AddEdge(order[from], order[from + 1 + Below(nodes - 1 - from)]);
    }
    for (int i = 0; i < nodes; ++i) {
      for (int j = i + 2; j < nodes; ++j) {
        const bool joined =
            (kinds_.skeleton == Skeleton::kHub && i == 0) ||
            (kinds_.skeleton == Skeleton::kLadder && i + j == nodes - 1) ||
            (kinds_.skeleton == Skeleton::kDense && Below(4) > 0);
        if (joined) AddEdge(order[i], order[j]);
      }
    }
  }

  void Fix(int n) {
    const int configs = Configs(made_.nodes[n].type);
    if (configs > 1 && Below(3) == 0) {
      made_.forbidden[n] = {Below(configs)};
      made_.fixed.erase(n);
      return;
    }
    made_.forbidden.erase(n);
    made_.fixed[n] = {Below(configs)};
    if (Below(2) == 0) made_.fixed[n].push_back(Below(configs));
  }

  // A new table, or one there is, so that equal neighbours occur.
  int PickTable(int from, int to) {
    const int rows = Configs(from);
    const int columns = Configs(to);
    for (size_t t = 0; t < made_.tables.size(); ++t) {
      if (made_.tables[t].rows == rows && made_.tables[t].columns == columns &&
          Below(2) == 0) {
        return static_cast<int>(t);
      }
    }
    problem::Table table{rows, columns, {}};
    for (int i = 0; i < rows * columns; ++i) {
      table.entries.push_back(Picoseconds(Below(spread_)));
      if (kinds_.nulls && Below(4) == 0) table.entries.back().reset();
    }
    made_.tables.push_back(std::move(table));
    return static_cast<int>(made_.tables.size()) - 1;
  }

  void AddEdge(int from, int to) {
    const int table = PickTable(made_.nodes[from].type, made_.nodes[to].type);
    made_.edges.push_back({from, to, table});
  }

  std::mt19937_64 random_;
  Kinds kinds_;
  int spread_ = 3;
  PlanProblem made_;
};

}  // namespace

PlanProblem RandomProblem(uint64_t seed, const Kinds& kinds) {
  return Generator(seed, kinds).Make();
}

}  // namespace meshwright::search
