#include "coordinator/segmenter/direction/root_order.h"

#include <algorithm>

namespace meshwright::segmenter {
namespace {

// Entries looked at and kept, per value.
constexpr int64_t kWorkPerValue = 64;
constexpr int64_t kFreeWork = 1 << 20;

using Entry = RootOrder::Place;

// Both, with `pick` of the two where both have a chain.
template <typename Pick>
std::vector<Entry> MergeBy(const std::vector<Entry>& a,
                           const std::vector<Entry>& b, Pick pick) {
  std::vector<Entry> both;
  both.reserve(a.size() + b.size());
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() || y != b.end()) {
    if (y == b.end() || (x != a.end() && x->chain < y->chain)) {
      both.push_back(*x++);
    } else if (x == a.end() || y->chain < x->chain) {
      both.push_back(*y++);
    } else {
      both.push_back({x->chain, pick(x->position, y->position)});
      ++x;
      ++y;
    }
  }
  return both;
}

int Largest(int a, int b) { return std::max(a, b); }
int Smallest(int a, int b) { return std::min(a, b); }

}  // namespace

RootOrder::RootOrder(int values)
    : list_of_(values, kEmpty),
      depth_of_(values, 0),
      lists_(2),
      work_left_(kFreeWork + kWorkPerValue * values),
      looks_left_(work_left_) {}

void RootOrder::Follow(ir::ValueId id,
                       const std::vector<ir::ValueId>& operands) {
  int list = kEmpty;
  int depth = 0;
  for (ir::ValueId operand : operands) {
    list = Merge(list, list_of_[operand]);
    depth = std::max(depth, depth_of_[operand]);
  }
  list_of_[id] = list;
  depth_of_[id] = depth;
}

int RootOrder::Open(ir::ValueId id) {
  Root root;
  root.depth = depth_of_[id] + 1;
  root.above = list_of_[id];
  // Behind the end of a chain that it follows from, else a chain of its own.
  root.place.chain = static_cast<int>(chains_.size());
  for (const auto& [chain, position] : lists_[root.above]) {
    if (position + 1 == chains_[chain]) {
      root.place.chain = chain;
      break;
    }
  }
  if (root.place.chain == static_cast<int>(chains_.size()))
    chains_.push_back(0);
  root.place.position = chains_[root.place.chain]++;
  list_of_[id] = root.above == kUnknown
                     ? kUnknown
                     : Keep(MergeBy(lists_[root.above], {root.place}, Largest));
  depth_of_[id] = root.depth;
  roots_.push_back(root);
  return static_cast<int>(roots_.size()) - 1;
}

int RootOrder::Keep(List list) {
  work_left_ -= static_cast<int64_t>(list.size());
  if (work_left_ < 0) return kUnknown;
  lists_.push_back(std::move(list));
  return static_cast<int>(lists_.size()) - 1;
}

int RootOrder::Merge(int a, int b) {
  if (a == b || b == kEmpty || a == kUnknown) return a;
  if (a == kEmpty || b == kUnknown) return b;
  if (a > b) std::swap(a, b);
  const auto found = merged_.find({a, b});
  if (found != merged_.end()) return found->second;
  work_left_ -= static_cast<int64_t>(lists_[a].size() + lists_[b].size());
  if (work_left_ < 0) return kUnknown;
  List both = MergeBy(lists_[a], lists_[b], Largest);
  const int merged = both == lists_[a]   ? a
                     : both == lists_[b] ? b
                                         : Keep(std::move(both));
  merged_[{a, b}] = merged;
  return merged;
}

RootOrder::Group RootOrder::MakeGroup(int root) const {
  const Root& it = roots_[root];
  return {it.depth, it.depth, it.above, {it.place}};
}

RootOrder::Group RootOrder::Join(const Group& a, const Group& b) {
  Group joined;
  joined.min_depth = std::min(a.min_depth, b.min_depth);
  joined.max_depth = std::max(a.max_depth, b.max_depth);
  work_left_ -= static_cast<int64_t>(a.first.size() + b.first.size());
  joined.above = work_left_ < 0 ? kUnknown : Merge(a.above, b.above);
  if (joined.above != kUnknown)
    joined.first = MergeBy(a.first, b.first, Smallest);
  return joined;
}

bool RootOrder::Unrelated(const Group& a, const Group& b) const {
  return !IsAbove(a, b) && !IsAbove(b, a);
}

// A root of `a` is above one of `b`.
bool RootOrder::IsAbove(const Group& a, const Group& b) const {
  if (a.min_depth >= b.max_depth) return false;
  if (a.above == kUnknown || b.above == kUnknown || looks_left_ < 0) {
    return true;
  }
  const List& reach = lists_[b.above];
  auto y = reach.begin();
  for (const auto& [chain, position] : a.first) {
    --looks_left_;
    for (; y != reach.end() && y->chain < chain; ++y) --looks_left_;
    if (y == reach.end()) return false;
    if (y->chain == chain && y->position >= position) return true;
  }
  return false;
}

}  // namespace meshwright::segmenter
