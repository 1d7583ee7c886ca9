#include "planner/pipeline/memory.h"

#include <algorithm>

namespace meshwright::pipeline {
namespace {

// Calls level(time, bytes) with every change of one stage.
template <typename Level>
void Walk(const Stage& stage, const std::vector<Span>& spans,
          const Level& level) {
  int64_t bytes = stage.persistent_bytes;
  level(Picoseconds(0), bytes);
  for (const Span& span : spans) {
    switch (span.operation.kind) {
      case OperationKind::kForward:
        level(span.start, bytes += stage.activation_bytes);
        break;
      case OperationKind::kBackward:
        level(span.end, bytes -= stage.activation_bytes);
        break;
      case OperationKind::kBackwardInput:
        level(span.end, bytes += stage.DelayedBytes() - stage.activation_bytes);
        break;
      case OperationKind::kBackwardWeight:
        level(span.end, bytes -= stage.DelayedBytes());
        break;
    }
  }
}

}  // namespace

std::vector<std::vector<MemoryLevel>> MemoryOverTime(
    const PipelineProblem& problem, const Timeline& timeline) {
  std::vector<std::vector<MemoryLevel>> levels(problem.stages.size());
  for (size_t i = 0; i < levels.size(); ++i) {
    Walk(problem.stages[i], timeline.stages[i],
         [&](Picoseconds time, int64_t bytes) {
           std::vector<MemoryLevel>& stage = levels[i];
           if (!stage.empty() && stage.back().bytes == bytes) return;
           stage.push_back({time, bytes});
         });
  }
  return levels;
}

std::vector<int64_t> PeakBytes(const PipelineProblem& problem,
                               const Timeline& timeline) {
  std::vector<int64_t> peaks(problem.stages.size(), 0);
  for (size_t i = 0; i < peaks.size(); ++i) {
    Walk(problem.stages[i], timeline.stages[i],
         [&](Picoseconds, int64_t bytes) {
           peaks[i] = std::max(peaks[i], bytes);
         });
  }
  return peaks;
}

}  // namespace meshwright::pipeline
