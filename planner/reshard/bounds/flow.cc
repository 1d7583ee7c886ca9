#include "planner/reshard/bounds/flow.h"

#include <algorithm>
#include <limits>

namespace meshwright::reshard {
namespace {

constexpr int kUnreached = -1;  // from the source, along free edges

}  // namespace

int Flow::AddEdge(int from, int to, int64_t capacity) {
  const int edge = static_cast<int>(edges_.size());
  edges_.push_back({to, capacity});
  edges_.push_back({from, 0});
  edges_of_[from].push_back(edge);
  edges_of_[to].push_back(edge + 1);
  return edge;
}

bool Flow::Level(int source, int sink) {
  level_.assign(edges_of_.size(), kUnreached);
  level_[source] = 0;
  std::vector<int> queue = {source};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const int edge : edges_of_[queue[i]]) {
      const auto& [to, capacity] = edges_[edge];
      if (capacity > 0 && level_[to] == kUnreached) {
        level_[to] = level_[queue[i]] + 1;
        queue.push_back(to);
      }
    }
  }
  return level_[sink] != kUnreached;
}

// A depth-first search without recursion: on the way back through edges that
// are full a path may visit every node.
int64_t Flow::Push(int source, int sink) {
  struct Step {
    int node;
    int64_t limit;
    int64_t sent = 0;
  };
  std::vector<Step> path = {{source, std::numeric_limits<int64_t>::max()}};
  while (true) {
    Step& step = path.back();
    if (step.node == sink) step.sent = step.limit;
    if (step.sent < step.limit &&
        next_[step.node] < edges_of_[step.node].size()) {
      const auto& [to, capacity] =
          edges_[edges_of_[step.node][next_[step.node]]];
      if (capacity > 0 && level_[to] == level_[step.node] + 1) {
        path.push_back({to, std::min(step.limit - step.sent, capacity)});
      } else {
        ++next_[step.node];
      }
      continue;
    }
    const int64_t sent = step.sent;
    path.pop_back();
    if (path.empty()) return sent;
    Step& before = path.back();
    const int edge = edges_of_[before.node][next_[before.node]];
    edges_[edge].capacity -= sent;
    edges_[edge ^ 1].capacity += sent;
    before.sent += sent;
    if (before.sent < before.limit) ++next_[before.node];
  }
}

int64_t Flow::Run(int source, int sink) {
  int64_t sent = 0;
  while (Level(source, sink)) {
    next_.assign(edges_of_.size(), 0);
    const int64_t more = Push(source, sink);
    if (more <= 0) break;
    sent += more;
  }
  return sent;
}

std::vector<bool> Flow::SourceSide(int source) const {
  std::vector<bool> side(edges_of_.size(), false);
  side[source] = true;
  std::vector<int> queue = {source};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const int edge : edges_of_[queue[i]]) {
      const auto& [to, capacity] = edges_[edge];
      if (capacity > 0 && !side[to]) {
        side[to] = true;
        queue.push_back(to);
      }
    }
  }
  return side;
}

}  // namespace meshwright::reshard
