#include "planner/search/elimination/label_keys.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace meshwright::search {
namespace {

constexpr int kShort = 14;      // bits
constexpr int kFirstSlots = 8;  // bits

}  // namespace

LabelKeys::LabelKeys(const std::vector<int>& variables,
                     const std::vector<int>& sizes)
    : variables_(variables) {
  int used = 0;
  for (const int v : variables) {
    const int bits = std::bit_width(static_cast<unsigned>(sizes[v] - 1));
    if (used + bits > 64) {
      ++words_;
      used = 0;
    }
    fields_.push_back({v, static_cast<int>(words_) - 1, used % 64,
                       (uint64_t{1} << bits) - 1});
    used += bits;
  }
  is_short_ = words_ == 1 && used <= kShort;
  slots_.resize(size_t{1} << (is_short_ ? used : kFirstSlots), 0);
}

// Of the key, or the empty one where it belongs.
size_t LabelKeys::FindSlot(const uint64_t* key) const {
  if (is_short_) return key[0];
  uint64_t hash = 0;
  for (size_t w = 0; w < words_; ++w) {
    hash = (hash ^ key[w]) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  }
  size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] != 0 &&
         !std::equal(key, key + words_, &keys_[(slots_[slot] - 1) * words_])) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void LabelKeys::Grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (int group = 0; group < size(); ++group) {
    slots_[FindSlot(&keys_[group * words_])] = group + 1;
  }
}

int LabelKeys::Find(const std::vector<int>& values) {
  key_.assign(words_, 0);
  for (const Field& field : fields_) {
    key_[field.word] |= static_cast<uint64_t>(values[field.variable])
                        << field.shift;
  }
  const size_t slot = FindSlot(key_.data());
  if (slots_[slot] != 0) return slots_[slot] - 1;
  keys_.insert(keys_.end(), key_.begin(), key_.end());
  slots_[slot] = size();
  const int group = size() - 1;
  if (!is_short_ && keys_.size() / words_ * 2 > slots_.size()) Grow();
  return group;
}

void LabelKeys::Retain(const std::vector<int>& groups) {
  std::vector<uint64_t> keys;
  keys.reserve(groups.size() * words_);
  for (const int group : groups) {
    const auto begin = keys_.begin() + group * words_;
    keys.insert(keys.end(), begin, begin + words_);
  }
  keys_ = std::move(keys);
  slots_ = {};
}

}  // namespace meshwright::search
