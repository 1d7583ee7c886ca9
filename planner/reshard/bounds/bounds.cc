#include "planner/reshard/bounds/bounds.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "planner/problem/duration.h"
#include "planner/reshard/bounds/flow.h"

namespace meshwright::reshard {
namespace {

Ticks PerLink(Ticks ticks, Ticks links) { return (ticks + links - 1) / links; }

// Jobs by the set of their senders.
std::map<std::vector<int>, Ticks> BySenders(const Instance& instance) {
  std::map<std::vector<int>, Ticks> groups;
  for (const Job& job : instance.jobs) {
    std::vector<int> senders;
    for (const Choice& choice : job.choices) senders.push_back(choice.out);
    std::sort(senders.begin(), senders.end());
    groups[senders] += job.min_ticks;
  }
  return groups;
}

}  // namespace

Ticks ComputeReceiverBound(const Instance& instance) {
  std::vector<Ticks> load(instance.ins(), 0);
  Ticks bound = 0;
  for (const Job& job : instance.jobs) {
    for (const int receiver : job.receivers) load[receiver] += job.min_ticks;
    bound = std::max(bound, job.min_ticks);
  }
  for (int i = 0; i < instance.ins(); ++i) {
    bound = std::max(bound, PerLink(load[i], instance.in_links[i]));
  }
  return bound;
}

// Dinkelbach: within a time the senders take all that there is, or a minimum
// cut names a set S that needs longer; its own time is the next.
Ticks ComputeSenderBound(const Instance& instance) {
  const std::map<std::vector<int>, Ticks> groups = BySenders(instance);
  const int count = static_cast<int>(groups.size());
  Ticks work = 0, links = 0;
  for (const auto& [senders, ticks] : groups) work += ticks;
  for (const int port : instance.out_links) links += port;
  if (links == 0) return 0;
  Ticks bound = PerLink(work, links);
  while (true) {
    // Nodes: source, groups, senders, sink.
    Flow flow(count + instance.outs() + 2);
    const int sink = count + instance.outs() + 1;
    int node = 1;
    for (const auto& [senders, ticks] : groups) {
      flow.AddEdge(0, node, ticks);
      for (const int out : senders) {
        flow.AddEdge(node, count + 1 + out, ticks);
      }
      ++node;
    }
    for (int out = 0; out < instance.outs(); ++out) {
      flow.AddEdge(count + 1 + out, sink,
                   problem::SaturatingMultiply(bound, instance.out_links[out]));
    }
    flow.Run(0, sink);
    const std::vector<bool> side = flow.SourceSide(0);
    Ticks need = 0, have = 0;
    for (int out = 0; out < instance.outs(); ++out) {
      if (side[count + 1 + out]) have += instance.out_links[out];
    }
    for (const auto& [senders, ticks] : groups) {
      if (std::all_of(senders.begin(), senders.end(),
                      [&](int out) { return side[count + 1 + out]; })) {
        need += ticks;
      }
    }
    if (have == 0 || PerLink(need, have) <= bound) return bound;
    bound = PerLink(need, have);
  }
}

Ticks FindGrid(const Instance& instance) {
  Ticks grid = 0;
  for (const Job& job : instance.jobs) {
    for (const Choice& choice : job.choices)
      grid = std::gcd(grid, choice.ticks);
  }
  return std::max<Ticks>(1, grid);
}

}  // namespace meshwright::reshard
