#include "planner/search/elimination/label_front.h"

namespace meshwright::search {

// Two by two until one run is left.
bool FrontMerger::Merge(Runs& runs, const base::Deadline& deadline) {
  if (runs.is_front || runs.begins.empty()) return true;
  do {
    merged_.clear();
    size_t count = 0;
    for (size_t i = 0; i < runs.begins.size(); i += 2) {
      if (deadline.HasPassed()) return false;
      const auto at = [&](size_t run) {
        return runs.labels.data() + (run < runs.begins.size()
                                         ? runs.begins[run]
                                         : runs.labels.size());
      };
      const size_t begin = merged_.size();
      MergeTwo(at(i), at(i + 1), at(i + 2));
      runs.begins[count++] = begin;
    }
    runs.begins.resize(count);
    runs.labels.swap(merged_);
  } while (runs.begins.size() > 1);
  runs.is_front = true;
  return true;
}

// Appends to merged_ what is not dominated.
void FrontMerger::MergeTwo(const Label* a, const Label* b, const Label* end) {
  const Label* const end_a = b;
  stairs_.clear();
  while (a != end_a || b != end) {
    const bool take_a =
        b == end || (a != end_a && (a->time != b->time ? a->time < b->time
                                                       : a->bytes <= b->bytes));
    const Label& label = take_a ? *a++ : *b++;
    const int64_t byte_budget = goal_.ComputeByteBudget(label);
    const auto dominates = [&](const std::pair<int64_t, int64_t>& other) {
      return other.first <= label.bytes && other.second >= byte_budget;
    };
    if (std::any_of(stairs_.rbegin(), stairs_.rend(), dominates)) continue;
    std::erase_if(stairs_, [&](const std::pair<int64_t, int64_t>& other) {
      return other.first >= label.bytes && other.second <= byte_budget;
    });
    stairs_.push_back({label.bytes, byte_budget});
    merged_.push_back(label);
  }
}

Cost HoldToWidth(std::span<Runs> groups, int64_t width) {
  std::vector<Cost> bounds;
  for (const Runs& runs : groups) {
    for (const Label& label : runs.labels) bounds.push_back(label.bound);
  }
  if (static_cast<int64_t>(bounds.size()) <= width) return kNever;
  const auto nth = bounds.begin() + width;
  std::nth_element(bounds.begin(), nth, bounds.end());
  const Cost min_let_go = *nth;
  int64_t equal = width;  // of that bound, how many stay
  equal -= std::count_if(bounds.begin(), nth,
                         [&](Cost bound) { return bound < min_let_go; });
  for (Runs& runs : groups) {
    std::erase_if(runs.labels, [&](const Label& label) {
      return label.bound > min_let_go ||
             (label.bound == min_let_go && equal-- <= 0);
    });
    if (runs.labels.empty()) runs.begins.clear();
  }
  return min_let_go;
}

}  // namespace meshwright::search
