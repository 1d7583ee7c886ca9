// KeepBest: of labels in one group, leaves those that none beats in time and
// bytes.
#ifndef MESHWRIGHT_PLANNER_SEARCH_KEEP_BEST_H_
#define MESHWRIGHT_PLANNER_SEARCH_KEEP_BEST_H_

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace meshwright::search {

template <typename Labels, typename GroupOf>
void KeepBest(Labels& labels, const GroupOf& group_of) {
  std::sort(labels.begin(), labels.end(), [&](const auto& a, const auto& b) {
    return std::tuple(group_of(a), a.time, a.bytes) <
           std::tuple(group_of(b), b.time, b.bytes);
  });
  size_t kept = 0;
  for (const auto& label : labels) {
    if (kept > 0 && group_of(labels[kept - 1]) == group_of(label) &&
        labels[kept - 1].bytes <= label.bytes) {
      continue;
    }
    labels[kept++] = label;
  }
  labels.resize(kept);
}

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_KEEP_BEST_H_
