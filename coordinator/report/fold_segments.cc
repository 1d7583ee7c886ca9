#include "coordinator/report/fold_segments.h"

#include <utility>

namespace meshwright::report {
namespace {

constexpr size_t kLongestPeriod = 8;  // in runs

bool IsAlike(const v1::PlanSegment& a, const v1::PlanSegment& b) {
  return a.type() == b.type() && a.config() == b.config() &&
         a.estimated() == b.estimated();
}
bool IsAlike(const Run& a, const Run& b) {
  return a.type == b.type && a.config == b.config && a.count == b.count &&
         a.estimated == b.estimated;
}

void AddFigures(const Run& from, Run& to) {
  to.seconds += from.seconds;
  to.communication_seconds += from.communication_seconds;
  to.resharding_seconds += from.resharding_seconds;
  to.memory_bytes += from.memory_bytes;
}

// How often the `period` runs from `at` on stand there in a row.
int CountRepeats(const std::vector<Run>& runs, size_t at, size_t period) {
  int repeats = 1;
  size_t next = at + period;
  while (next + period <= runs.size()) {
    for (size_t i = 0; i < period; ++i) {
      if (!IsAlike(runs[at + i], runs[next + i])) return repeats;
    }
    ++repeats;
    next += period;
  }
  return repeats;
}

}  // namespace

std::vector<RepeatedRuns> FoldSegments(
    const google::protobuf::RepeatedPtrField<v1::PlanSegment>& segments,
    int first) {
  std::vector<Run> runs;
  for (int s = 0; s < segments.size(); ++s) {
    const v1::PlanSegment& it = segments[s];
    if (s == 0 || !IsAlike(segments[s - 1], it)) {
      runs.push_back({.first = first + s,
                      .type = it.type(),
                      .config = it.config(),
                      .describe = it.describe(),
                      .estimated = it.estimated()});
    }
    ++runs.back().count;
    AddFigures({.seconds = it.seconds(),
                .communication_seconds = it.communication_seconds(),
                .resharding_seconds = it.resharding_seconds(),
                .memory_bytes = it.memory_bytes()},
               runs.back());
  }
  std::vector<RepeatedRuns> groups;
  for (size_t at = 0; at < runs.size();) {
    size_t best_period = 1;
    int best_repeats = 1;
    for (size_t period = 2; period <= kLongestPeriod; ++period) {
      const int repeats = CountRepeats(runs, at, period);
      if (repeats > 1 && period * repeats > best_period * best_repeats) {
        best_period = period;
        best_repeats = repeats;
      }
    }
    RepeatedRuns group{.repeat = best_repeats};
    for (int repeat = 0; repeat < best_repeats; ++repeat) {
      for (size_t i = 0; i < best_period; ++i, ++at) {
        if (repeat == 0) {
          group.runs.push_back(std::move(runs[at]));
        } else {
          AddFigures(runs[at], group.runs[i]);
        }
      }
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace meshwright::report
