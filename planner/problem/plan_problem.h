// PlanProblem: everything the planner knows about a model, as plain data.
//
// Concept: a model is a graph of nodes (segments). A node has a type, whose
// configurations say what each way of sharding it costs, and a repeat count:
// its copies follow one another. Tables give the seconds of resharding between
// the configurations of neighbours. A plan chooses one configuration per copy.
//
//   types:   [0] embedding   [1] layer, 81 configs          [2] head
//   nodes:   0 ──table 0──▶ 1 (repeat 24, self edge table 1) ──table 2──▶ 2
//
// Time is the sum over copies, self edges and edges (papers/cfp.txt, Eq. 8).
// Memory is the sum of persistent and saved bytes of all copies plus the
// largest transient of any (sharper than Eq. 9).
// Threads and ownership: a value; nothing here points anywhere.
#ifndef MESHWRIGHT_PLANNER_PROBLEM_PLAN_PROBLEM_H_
#define MESHWRIGHT_PLANNER_PROBLEM_PLAN_PROBLEM_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "planner/problem/duration.h"

namespace meshwright::problem {

// Measured again, a time is expected within [time - below, time + above]
// (uncertainty.h); 0: taken as exact.
struct NoiseInterval {
  Picoseconds below{0};
  Picoseconds above{0};
  bool operator==(const NoiseInterval&) const = default;
};

struct Config {
  Picoseconds time{0};
  int64_t persistent_bytes = 0;  // lives through the step: parameters, states
  int64_t saved_bytes = 0;       // kept from the forward to the backward
  int64_t transient_bytes = 0;   // needed only while the copy runs
  NoiseInterval noise = {};      // of `time`
};

struct NodeType {
  std::string name;
  std::vector<Config> configs;
};

struct Node {
  int type = 0;
  int64_t repeat = 1;
  bool tied = false;  // all copies take one configuration
};

// Joins the last copy of `from` with the first copy of `to`.
struct Edge {
  int from = 0;
  int to = 0;
  int table = 0;
};

// The table between consecutive copies of every node of `type`.
struct SelfEdge {
  int type = 0;
  int table = 0;
};

// Row-major: entry (a, b) is the resharding time from configuration a to b.
// An absent entry forbids the pair.
struct Table {
  int rows = 0;
  int columns = 0;
  std::vector<std::optional<Picoseconds>> entries;
  std::vector<NoiseInterval> noise = {};  // of the entries; empty: all exact

  const std::optional<Picoseconds>& at(int row, int column) const {
    return entries[static_cast<size_t>(row) * columns + column];
  }
  // An empty interval where the table is exact.
  NoiseInterval NoiseAt(int row, int column) const {
    if (noise.empty()) return {};
    return noise[static_cast<size_t>(row) * columns + column];
  }
};

struct PlanProblem {
  std::vector<NodeType> types;
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<SelfEdge> self_edges;
  std::vector<Table> tables;
  std::optional<int64_t> memory_limit_bytes;
  double headroom_percent = 0;            // of the limit, left to the allocator
  std::map<int, std::vector<int>> fixed;  // node → configurations allowed
  std::map<int, std::vector<int>> forbidden;  // node → those that are not
};

// choice[node][copy] is a configuration of the node's type.
using Choice = std::vector<std::vector<int>>;

}  // namespace meshwright::problem

#endif  // MESHWRIGHT_PLANNER_PROBLEM_PLAN_PROBLEM_H_
