#include "planner/pipeline/memory.h"

#include <algorithm>
#include <map>
#include <optional>

namespace meshwright::pipeline {
namespace {

// Calls level(time, held) with every change of one stage.
template <typename Level>
void Walk(const std::vector<Span>& spans, const Level& level) {
  Held held;
  level(Picoseconds(0), held);
  for (const Span& span : spans) {
    switch (span.operation.kind) {
      case OperationKind::kForward:
        ++held.whole;
        level(span.start, held);
        continue;
      case OperationKind::kBackward:
        --held.whole;
        break;
      case OperationKind::kBackwardInput:
        --held.whole;
        ++held.delayed;
        break;
      case OperationKind::kBackwardWeight:
        --held.delayed;
        break;
    }
    level(span.end, held);
  }
}

}  // namespace

std::vector<std::vector<MemoryLevel>> ComputeMemoryOverTime(
    const PipelineProblem& problem, const Timeline& timeline) {
  std::vector<std::vector<MemoryLevel>> levels(problem.stages.size());
  for (size_t i = 0; i < levels.size(); ++i) {
    Walk(timeline.stages[i], [&](Picoseconds time, const Held& held) {
      const int64_t bytes = CountBytes(problem.stages[i], held);
      std::vector<MemoryLevel>& stage = levels[i];
      if (!stage.empty() && stage.back().bytes == bytes) return;
      stage.push_back({time, bytes});
    });
  }
  return levels;
}

std::vector<std::vector<Held>> FindMaxHeld(const Timeline& timeline) {
  std::vector<std::vector<Held>> max_held(timeline.stages.size());
  for (size_t i = 0; i < max_held.size(); ++i) {
    std::map<int, int> delayed;  // the most, by how many are whole
    Picoseconds now{0};
    Held last;
    const auto keep = [&] {
      int& known = delayed[last.whole];
      known = std::max(known, last.delayed);
    };
    Walk(timeline.stages[i], [&](Picoseconds time, const Held& held) {
      if (time > now) keep();
      now = time;
      last = held;
    });
    keep();
    std::optional<int> beaten;  // by those with more that are whole
    for (auto it = delayed.rbegin(); it != delayed.rend(); ++it) {
      if (beaten.has_value() && it->second <= *beaten) continue;
      beaten = it->second;
      max_held[i].push_back({it->first, it->second});
    }
  }
  return max_held;
}

int64_t CountBytes(const Stage& stage, const Held& held) {
  return stage.persistent_bytes + held.whole * stage.activation_bytes +
         held.delayed * stage.ComputeDelayedBytes();
}

int64_t FindPeak(const Stage& stage, const std::vector<Held>& max_held) {
  int64_t peak = 0;
  for (const Held& held : max_held)
    peak = std::max(peak, CountBytes(stage, held));
  return peak;
}

std::vector<int64_t> ComputePeakBytes(const PipelineProblem& problem,
                                      const Timeline& timeline) {
  std::vector<int64_t> peaks;
  const std::vector<std::vector<Held>> max_held = FindMaxHeld(timeline);
  for (size_t i = 0; i < max_held.size(); ++i) {
    peaks.push_back(FindPeak(problem.stages[i], max_held[i]));
  }
  return peaks;
}

}  // namespace meshwright::pipeline
