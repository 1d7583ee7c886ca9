// Crossings: the values that cross a segment's boundary, to be paired.
//
// Concept: a boundary activation has the first gradient of its dimensions that
// crosses the same way back and is not another activation's yet. Values are
// named by number; they are added and taken in canonical order, so that equal
// segments are paired alike.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_CROSSINGS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_CROSSINGS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "coordinator/segmenter/segments/segment_id.h"

namespace meshwright::segmenter {

class Crossings {
 public:
  // A value with the segment beyond the boundary.
  void Add(const std::vector<int64_t>& dims, SegmentIndex segment, int value);

  // The first that was added for one of `segments` and not taken yet; of the
  // first ones of several the smallest.
  std::optional<int> Take(const std::vector<int64_t>& dims,
                          const std::vector<SegmentIndex>& segments);

 private:
  struct Queue {
    std::vector<int> values;
    size_t next = 0;
  };
  std::map<std::pair<std::vector<int64_t>, SegmentIndex>, Queue> queues_;
  std::unordered_set<int> taken_;
};

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_CROSSINGS_H_
