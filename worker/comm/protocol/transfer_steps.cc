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

void AddTransferStep(int from, int to, Range range,
                     std::vector<TransferStep>& steps) {
  if (range.size_bytes == 0) return;
  steps.push_back({from, to, range.offset, range.size_bytes});
}

// Parts from the sender to each of `group`, then the ring among them.
void AddAllGather(const Task& task, std::span<const int> group,
                  std::vector<TransferStep>& steps) {
  const size_t ranks = group.size();
  const auto part = [&](size_t i) {
    return Part(task.size_bytes, i % ranks, ranks);
  };
  for (size_t i = 0; i < ranks; ++i) {
    AddTransferStep(task.sender, group[i], part(i), steps);
  }
  for (size_t step = 0; step + 1 < ranks; ++step) {
    for (size_t i = 0; i < ranks; ++i) {
      AddTransferStep(group[i], group[(i + 1) % ranks], part(i + ranks - step),
                      steps);
    }
  }
}

}  // namespace

std::vector<int> OrderChain(const Plan& plan, const Task& task) {
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

std::vector<TransferStep> MakeTransferSteps(const Plan& plan,
                                            const Task& task) {
  const std::vector<int> order = OrderChain(plan, task);
  const Range all = {0, task.size_bytes};
  std::vector<TransferStep> steps;
  switch (task.strategy) {
    case Strategy::kSendReceive:
      for (const int receiver : order)
        AddTransferStep(task.sender, receiver, all, steps);
      break;
    case Strategy::kBroadcast:
      for (size_t i = 0; i < order.size(); ++i) {
        AddTransferStep(i == 0 ? task.sender : order[i - 1], order[i], all,
                        steps);
      }
      break;
    case Strategy::kGlobalAllGather:
      AddAllGather(task, order, steps);
      break;
    case Strategy::kLocalAllGather:
      for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        while (end < order.size() &&
               plan.hosts[order[end]].node == plan.hosts[order[begin]].node) {
          ++end;
        }
        AddAllGather(task, std::span(order).subspan(begin, end - begin), steps);
      }
      break;
  }
  return steps;
}

}  // namespace meshwright::worker::comm
