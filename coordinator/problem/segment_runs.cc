#include "coordinator/problem/segment_runs.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace meshwright::formulation {
namespace {

using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

// The common parts of a segment and the next: the boundary, and the parameters
// that both read.
struct Step {
  std::optional<int> boundary;
  std::vector<space::LinkedValue> shared;
  bool operator==(const Step&) const = default;
};

}  // namespace

std::vector<SegmentRun> FoldRuns(const segmenter::Analysis& analysis,
                                 const space::ProfileSpace& space) {
  const std::vector<SegmentTypeId>& type = analysis.type_of_segment;
  const size_t count = analysis.graphs.size();
  std::set<size_t> starts = {0};   // segments
  std::vector<Step> steps(count);  // by the segment they begin at
  const auto join = [&](SegmentIndex from, SegmentIndex to) -> Step* {
    if (to == from + 1 && type[from] == type[to]) return &steps[from];
    starts.insert(from + 1);
    starts.insert(to);
    return nullptr;
  };
  for (const auto& [pair, boundary] : space.edges) {
    Step* const step = join(pair.first, pair.second);
    if (step != nullptr) step->boundary = boundary;
  }
  for (const space::ParameterLink& link : space.links) {
    Step* const step = join(link.from_segment, link.to_segment);
    if (step != nullptr) step->shared = link.values;
  }
  std::map<SegmentTypeId, Step> usual;
  for (size_t s = 0; s + 1 < count; ++s) {
    if (type[s] != type[s + 1]) continue;
    const auto [first, added] = usual.try_emplace(type[s], steps[s]);
    if (first->second != steps[s]) starts.insert(s + 1);
  }
  for (const space::SharedParameter& it : space.shared) {
    for (SegmentIndex segment : {it.end_segment, it.block_segment}) {
      starts.insert(segment);
      starts.insert(segment + 1);
    }
  }
  std::vector<SegmentRun> runs;
  for (SegmentIndex s; s < count; ++s) {
    if (starts.contains(s) || type[s] != type[s - 1]) runs.push_back({s, 0});
    ++runs.back().count;
  }
  return runs;
}

}  // namespace meshwright::formulation
