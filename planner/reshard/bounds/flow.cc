#include "planner/reshard/bounds/flow.h"

#include <algorithm>
#include <limits>

namespace meshwright::reshard {

int Flow::AddEdge(int from, int to, int64_t capacity) {
  const int edge = static_cast<int>(edges_.size());
  edges_.push_back({to, capacity});
  edges_.push_back({from, 0});
  edges_of_[from].push_back(edge);
  edges_of_[to].push_back(edge + 1);
  return edge;
}

bool Flow::Level(int source, int sink) {
  level_.assign(edges_of_.size(), -1);
  level_[source] = 0;
  std::vector<int> queue = {source};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const int edge : edges_of_[queue[i]]) {
      const auto& [to, capacity] = edges_[edge];
      if (capacity > 0 && level_[to] < 0) {
        level_[to] = level_[queue[i]] + 1;
        queue.push_back(to);
      }
    }
  }
  return level_[sink] >= 0;
}

int64_t Flow::Push(int node, int sink, int64_t limit) {
  if (node == sink) return limit;
  int64_t sent = 0;
  for (size_t& i = next_[node]; i < edges_of_[node].size(); ++i) {
    const int edge = edges_of_[node][i];
    const int to = edges_[edge].to;
    if (edges_[edge].capacity > 0 && level_[to] == level_[node] + 1) {
      const int64_t more =
          Push(to, sink, std::min(limit - sent, edges_[edge].capacity));
      edges_[edge].capacity -= more;
      edges_[edge ^ 1].capacity += more;
      sent += more;
    }
    if (limit - sent <= 0) break;
  }
  return sent;
}

int64_t Flow::Run(int source, int sink) {
  int64_t sent = 0;
  while (Level(source, sink)) {
    next_.assign(edges_of_.size(), 0);
    const int64_t more =
        Push(source, sink, std::numeric_limits<int64_t>::max());
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
