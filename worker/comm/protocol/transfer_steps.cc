#include "worker/comm/protocol/transfer_steps.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace meshwright::worker::comm {
namespace {

struct Range {
  int64_t offset;
  int64_t size_bytes;
};

Range Part(int64_t bytes, size_t index, size_t parts) {
  const auto count = static_cast<int64_t>(parts);
  const auto i = static_cast<int64_t>(index);
  const int64_t base = bytes / count;
  const int64_t larger = bytes % count;  // parts with one byte more
  return {i * base + std::min(i, larger), base + (i < larger ? 1 : 0)};
}

void AddLeg(int from, int to, Range range, std::vector<Leg>& legs) {
  if (range.size_bytes == 0) return;
  legs.push_back({from, to, range.offset, range.size_bytes});
}

// Parts from the sender to each of `group`, then the ring among them.
void AddAllGather(const Task& task, std::span<const int> group,
                  std::vector<Leg>& legs) {
  const size_t members = group.size();
  const auto part = [&](size_t i) {
    return Part(task.size_bytes, i % members, members);
  };
  for (size_t i = 0; i < members; ++i) {
    AddLeg(task.sender, group[i], part(i), legs);
  }
  for (size_t step = 0; step + 1 < members; ++step) {
    for (size_t i = 0; i < members; ++i) {
      AddLeg(group[i], group[(i + 1) % members], part(i + members - step),
             legs);
    }
  }
}

}  // namespace

std::vector<int> ChainOrder(const Plan& plan, const Task& task) {
  std::vector<std::string_view> nodes = {plan.hosts[task.sender].node};
  for (const int receiver : task.receivers) {
    nodes.push_back(plan.hosts[receiver].node);
  }
  std::vector<int> order = task.receivers;
  std::ranges::stable_sort(order, {}, [&](int host) {
    return std::ranges::find(nodes, plan.hosts[host].node) - nodes.begin();
  });
  return order;
}

std::vector<Leg> LegsOf(const Plan& plan, const Task& task) {
  const std::vector<int> order = ChainOrder(plan, task);
  const Range all = {0, task.size_bytes};
  std::vector<Leg> legs;
  switch (task.strategy) {
    case Strategy::kSendReceive:
      for (const int receiver : order) AddLeg(task.sender, receiver, all, legs);
      break;
    case Strategy::kBroadcast:
      for (size_t i = 0; i < order.size(); ++i) {
        AddLeg(i == 0 ? task.sender : order[i - 1], order[i], all, legs);
      }
      break;
    case Strategy::kGlobalAllGather:
      AddAllGather(task, order, legs);
      break;
    case Strategy::kLocalAllGather:
      for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        while (end < order.size() &&
               plan.hosts[order[end]].node == plan.hosts[order[begin]].node) {
          ++end;
        }
        AddAllGather(task, std::span(order).subspan(begin, end - begin), legs);
      }
      break;
  }
  return legs;
}

}  // namespace meshwright::worker::comm
