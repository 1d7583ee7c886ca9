#include "planner/reshard/exact/visited.h"

#include <algorithm>

namespace meshwright::reshard {

bool Visited::AllAsEarly(size_t at, const std::vector<Ticks>& state) const {
  for (size_t i = 0; i < width_; ++i) {
    if (figures_[at + i] > state[i]) return false;
  }
  return true;
}

bool Visited::Covers(uint64_t placed, const std::vector<Ticks>& state) {
  std::vector<uint32_t>& known = at_[placed];
  for (const uint32_t index : known) {
    if (AllAsEarly(index * width_, state)) return true;
  }
  if (known.size() >= kMaxOfOne) {
    // The oldest makes room; its figures are written over.
    std::rotate(known.begin(), known.begin() + 1, known.end());
    std::copy(
        state.begin(), state.end(),
        figures_.begin() + static_cast<std::ptrdiff_t>(known.back() * width_));
    return false;
  }
  if (figures_.size() + width_ > kMaxFigures) return false;
  known.push_back(static_cast<uint32_t>(figures_.size() / width_));
  figures_.insert(figures_.end(), state.begin(), state.end());
  return false;
}

}  // namespace meshwright::reshard
