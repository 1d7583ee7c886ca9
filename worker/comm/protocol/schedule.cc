#include "worker/comm/protocol/schedule.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace meshwright::worker::comm {
namespace {

// How often the slice crosses the sender's link or, for an all-gather over
// everybody, a receiver's.
size_t Crossings(const Plan& plan, const Task& task) {
  std::set<std::string_view> nodes;
  for (const int receiver : task.receivers) {
    nodes.insert(plan.hosts[receiver].node);
  }
  switch (task.strategy) {
    case Strategy::kSendReceive:
      return task.receivers.size();
    case Strategy::kLocalAllGather:
      return nodes.size();
    case Strategy::kGlobalAllGather:
      return task.receivers.size() == 1 ? 1 : 2;
    case Strategy::kBroadcast:
      return 1;
  }
  return 1;
}

}  // namespace

Schedule ComputeSchedule(const Plan& plan) {
  Schedule schedule;
  std::vector<double> outgoing(plan.hosts.size());
  std::vector<double> incoming(plan.hosts.size());
  for (const Task& task : plan.tasks) {
    double start = outgoing[task.sender];
    for (const int receiver : task.receivers) {
      start = std::max(start, incoming[receiver]);
    }
    const double seconds = static_cast<double>(task.size_bytes) *
                           plan.link.beta *
                           static_cast<double>(Crossings(plan, task));
    const double end = start + seconds;
    outgoing[task.sender] = end;
    for (const int receiver : task.receivers) incoming[receiver] = end;
    schedule.slots.push_back({start, end});
    schedule.makespan_seconds = std::max(schedule.makespan_seconds, end);
  }
  return schedule;
}

}  // namespace meshwright::worker::comm
