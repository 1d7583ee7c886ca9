#include "coordinator/segmenter/segments/crossings.h"

namespace meshwright::segmenter {

void Crossings::Add(const std::vector<int64_t>& dims, SegmentIndex segment,
                    int value) {
  queues_[{dims, segment}].values.push_back(value);
}

std::optional<int> Crossings::Take(const std::vector<int64_t>& dims,
                                   const std::vector<SegmentIndex>& segments) {
  std::optional<int> first;
  for (SegmentIndex segment : segments) {
    const auto found = queues_.find({dims, segment});
    if (found == queues_.end()) continue;
    Queue& queue = found->second;
    while (queue.next < queue.values.size() &&
           taken_.contains(queue.values[queue.next])) {
      ++queue.next;
    }
    if (queue.next == queue.values.size()) continue;
    const int value = queue.values[queue.next];
    if (!first.has_value() || value < *first) first = value;
  }
  if (first.has_value()) taken_.insert(*first);
  return first;
}

}  // namespace meshwright::segmenter
