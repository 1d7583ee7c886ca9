#include "coordinator/problem/peak_timeline.h"

#include <algorithm>

namespace meshwright::formulation {

PeakParts FindPeakParts(const MeasuredProblem& measured,
                        const problem::Choice& choice) {
  int64_t persistent = 0;
  int64_t saved = 0;
  int64_t reduced = 0;
  int64_t copied = 0;
  int64_t fullest = 0;
  for (size_t n = 0; n < choice.size(); ++n) {
    const int type = measured.problem.nodes[n].type;
    const auto& configs = measured.problem.types[type].configs;
    for (const int c : choice[n]) {
      persistent += configs[c].persistent_bytes;
      saved += configs[c].saved_bytes;
      const TimelineBytes& bytes = measured.timeline[type][c];
      reduced += bytes.reduced;
      copied += bytes.copied;
      fullest = std::max(fullest, saved + bytes.transient);
    }
  }
  return {persistent + fullest, persistent + 2 * reduced - copied};
}

int64_t FindPeakBytes(const MeasuredProblem& measured,
                      const problem::Choice& choice) {
  const PeakParts parts = FindPeakParts(measured, choice);
  return std::max(parts.running, parts.reducing);
}

}  // namespace meshwright::formulation
