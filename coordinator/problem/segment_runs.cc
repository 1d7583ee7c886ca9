#include "coordinator/problem/segment_runs.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace meshwright::formulation {
namespace {

// What a segment and the next have in common: the boundary, and the parameters
// that both read.
struct Step {
  std::optional<int> boundary;
  std::vector<space::LinkedValue> shared;
  bool operator==(const Step&) const = default;
};

}  // namespace

std::vector<SegmentRun> FoldRuns(const segmenter::Analysis& analysis,
                                 const space::ProfileSpace& space) {
  const std::vector<int>& type = analysis.type_of_segment;
  const int count = static_cast<int>(analysis.graphs.size());
  std::set<int> starts = {0};
  std::vector<Step> steps(count);  // by the segment they begin at
  const auto join = [&](int from, int to) -> Step* {
    if (to == from + 1 && type[from] == type[to]) return &steps[from];
    starts.insert({from + 1, to});
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
  std::map<int, Step> usual;  // by type
  for (int s = 0; s + 1 < count; ++s) {
    if (type[s] != type[s + 1]) continue;
    const auto [first, added] = usual.try_emplace(type[s], steps[s]);
    if (first->second != steps[s]) starts.insert(s + 1);
  }
  for (const space::SharedParameter& it : space.shared) {
    for (int segment : {it.end_segment, it.block_segment}) {
      starts.insert({segment, segment + 1});
    }
  }
  std::vector<SegmentRun> runs;
  for (int s = 0; s < count; ++s) {
    if (starts.contains(s) || type[s] != type[s - 1]) runs.push_back({s, 0});
    ++runs.back().count;
  }
  return runs;
}

}  // namespace meshwright::formulation
