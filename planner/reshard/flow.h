// Flow: a maximum flow (Dinic) in floating point, with a tolerance; whoever
// reads a cut off it computes the cut's figures anew.
#ifndef MESHWRIGHT_PLANNER_RESHARD_FLOW_H_
#define MESHWRIGHT_PLANNER_RESHARD_FLOW_H_

#include <vector>

namespace meshwright::reshard {

class Flow {
 public:
  explicit Flow(int nodes) : edges_of_(nodes) {}

  // Returns a handle for Sent.
  int AddEdge(int from, int to, double capacity);
  double Run(int source, int sink);
  double Sent(int edge) const { return edges_[edge ^ 1].capacity; }
  // After Run: what the source still reaches.
  std::vector<bool> SourceSide(int source) const;

 private:
  struct Edge {
    int to;
    double capacity;  // left
  };

  bool Level(int source, int sink);
  double Push(int node, int sink, double limit);

  std::vector<Edge> edges_;  // pairs: an edge and its reverse
  std::vector<std::vector<int>> edges_of_;
  std::vector<int> level_;
  std::vector<size_t> next_;
};

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_FLOW_H_
