#include "planner/checkpoint/slot_grid.h"

#include <limits>

namespace meshwright::checkpoint {

SlotGrid::SlotGrid(const Costs& costs, int64_t memory, int slots)
    : size_(std::max<int64_t>(1, (memory + slots - 1) / slots)) {
  int64_t offset = memory % size_;
  for (int s = 0; s < costs.stages(); ++s) {
    act_.push_back(costs.act(s));
    offset_.push_back(offset);
    top_.push_back(Slot(s, memory - (s > 0 ? costs.act(s) : 0)));
    const int64_t next = offset - costs.saved(s);
    offset = next - DivideDown(next) * size_;
    save_shift_.push_back(static_cast<int>(
        std::min((costs.saved(s) + offset - offset_.back()) / size_, kMax)));
  }
}

int SlotGrid::Slot(int s, int64_t bytes) const {
  const int64_t slot = -DivideDown(offset_[s] - bytes);
  return static_cast<int>(std::clamp(slot, -kMax, kMax));
}

int ChooseSlots(const Costs& costs, int64_t memory, int max_slots,
                const std::vector<Kept>& schedule) {
  int best = max_slots;
  double min_lost = std::numeric_limits<double>::infinity();
  for (int slots = max_slots; slots > max_slots - max_slots / 4; --slots) {
    const SlotGrid grid(costs, memory, slots);
    double lost = 0;
    for (const auto& [s, k] : schedule) {
      lost += static_cast<double>(grid.Lost(s, k));
    }
    if (lost < min_lost) {
      min_lost = lost;
      best = slots;
    }
  }
  return best;
}

}  // namespace meshwright::checkpoint
