#include "planner/pipeline/orders.h"

#include <algorithm>

namespace meshwright::pipeline {

int WarmUpForwards(Schedule schedule, int from_here, int micro_batches) {
  switch (schedule) {
    case Schedule::kGpipe:
      return micro_batches;
    case Schedule::k1F1B:
      return std::min(from_here, micro_batches);
    case Schedule::kEager1F1B:
    case Schedule::kEager1F1BDelay:
      return std::min(2 * (from_here - 1) + 1, micro_batches);
  }
  return micro_batches;
}

StageOrders MakeOrders(Schedule schedule, int stages, int micro_batches) {
  const bool reversed = schedule == Schedule::kGpipe;
  const OperationKind backward = schedule == Schedule::kEager1F1BDelay
                                     ? OperationKind::kBackwardInput
                                     : OperationKind::kBackward;
  StageOrders orders(stages);
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<Operation>& order = orders[stage];
    order.reserve(2 * static_cast<size_t>(micro_batches));
    int forwards = WarmUpForwards(schedule, stages - stage, micro_batches);
    for (int k = 0; k < forwards; ++k) {
      order.push_back({OperationKind::kForward, k});
    }
    for (int k = 0; k < micro_batches; ++k) {
      order.push_back({backward, reversed ? micro_batches - 1 - k : k});
      if (forwards < micro_batches) {
        order.push_back({OperationKind::kForward, forwards++});
      }
    }
  }
  return orders;
}

}  // namespace meshwright::pipeline
