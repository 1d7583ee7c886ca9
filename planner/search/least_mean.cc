#include "planner/search/least_mean.h"

#include <algorithm>

namespace meshwright::search {
namespace {

constexpr int kNobody = -1;

// The mean cost of a step, rounded down; costs may be negative.
Cost MeanOf(const Matrix& steps, const Closed& walk) {
  Cost sum = 0;
  for (size_t i = 0; i < walk.size(); ++i) {
    sum += steps.at(walk[i], walk[(i + 1) % walk.size()]);
  }
  const Cost length = static_cast<Cost>(walk.size());
  return sum >= 0 ? sum / length : -((-sum + length - 1) / length);
}

// Where each vertex is best reached from, over walks of more and more steps.
class Reaching {
 public:
  Reaching(const Matrix& steps, Cost mean)
      : steps_(steps),
        mean_(mean),
        least_(steps.rows, 0),
        from_(steps.rows, kNobody) {}

  // A closed walk below the mean; empty if there is none.
  Closed Find() {
    while (Improve()) {
      if (Closed walk = Cycle(); !walk.empty()) return walk;
    }
    return {};
  }

 private:
  bool Improve() {
    bool is_better = false;
    for (int c = 0; c < steps_.rows; ++c) {
      const Cost* const row =
          &steps_.entries[static_cast<size_t>(c) * steps_.columns];
      const Cost here = least_[c] - mean_;
      for (int d = 0; d < steps_.columns; ++d) {
        if (row[d] >= kNever || here + row[d] >= least_[d]) continue;
        least_[d] = here + row[d];
        from_[d] = c;
        is_better = true;
        if (c == d) return true;
      }
    }
    return is_better;
  }

  Closed Cycle() const {
    std::vector<int> seen(steps_.rows, kNobody);  // from which start
    for (int start = 0; start < steps_.rows; ++start) {
      int v = start;
      while (v != kNobody && seen[v] == kNobody) {
        seen[v] = start;
        v = from_[v];
      }
      if (v == kNobody || seen[v] != start) continue;
      Closed walk = {v};
      for (int u = from_[v]; u != v; u = from_[u]) walk.push_back(u);
      std::reverse(walk.begin(), walk.end());
      return walk;
    }
    return {};
  }

  const Matrix& steps_;
  const Cost mean_;
  std::vector<Cost> least_;
  std::vector<int> from_;
};

}  // namespace

Cost LeastMean(const Matrix& steps, const std::vector<Closed>& known) {
  Cost mean = 0;
  for (const Cost cost : steps.entries) {
    if (cost < kNever) mean = std::max(mean, cost);
  }
  for (int v = 0; v < steps.rows; ++v) mean = std::min(mean, steps.at(v, v));
  for (const Closed& walk : known) mean = std::min(mean, MeanOf(steps, walk));
  while (true) {
    const Closed walk = Reaching(steps, mean).Find();
    if (walk.empty()) return mean;
    mean = std::min(mean - 1, MeanOf(steps, walk));
  }
}

}  // namespace meshwright::search
