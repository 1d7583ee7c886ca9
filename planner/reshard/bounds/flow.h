// Flow: a maximum flow (Dinic) of integers. The flow from the source sums to at
// most 2^62.
#ifndef MESHWRIGHT_PLANNER_RESHARD_BOUNDS_FLOW_H_
#define MESHWRIGHT_PLANNER_RESHARD_BOUNDS_FLOW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace meshwright::reshard {

class Flow {
 public:
  explicit Flow(int nodes) : edges_of_(nodes) {}

  // Returns a handle for Sent.
  int AddEdge(int from, int to, int64_t capacity);
  // The maximum flow; returns its size.
  int64_t Run(int source, int sink);
  int64_t Sent(int edge) const { return edges_[edge ^ 1].capacity; }
  // After Run: what the source still reaches.
  std::vector<bool> SourceSide(int source) const;

 private:
  struct Edge {
    int to;
    int64_t capacity;  // left
  };

  bool Level(int source, int sink);
  int64_t Push(int source, int sink);

  std::vector<Edge> edges_;  // pairs: an edge and its reverse
  std::vector<std::vector<int>> edges_of_;
  std::vector<int> level_;
  std::vector<size_t> next_;
};

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_BOUNDS_FLOW_H_
