#include "planner/search/elimination/marginals.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace meshwright::search {
namespace {

class Calibration {
 public:
  Calibration(const Buckets& buckets, const base::Deadline& deadline)
      : buckets_(buckets),
        deadline_(deadline),
        children_(buckets.sequence().size()),
        outside_(buckets.sequence().size()),
        beside_(buckets.sequence().size(), 0) {}

  std::vector<std::vector<Cost>> Run() {
    const std::vector<int>& sequence = buckets_.sequence();
    for (const int v : sequence) {
      const std::vector<int>& scope = buckets_.scope(v);
      if (scope.empty()) {
        // Other roots are chosen for themselves.
        beside_[v] = buckets_.bound() - buckets_.left(v).values[0];
        continue;
      }
      children_[*std::min_element(scope.begin(), scope.end(),
                                  [this](int a, int b) {
                                    return buckets_.turn(a) < buckets_.turn(b);
                                  })]
          .push_back(v);
    }
    std::vector<std::vector<Cost>> marginals(sequence.size());
    for (auto v = sequence.rbegin(); v != sequence.rend(); ++v) {
      const auto own = MinimumOver({*v}, *v, std::nullopt);
      if (!own.has_value()) return {};
      for (const Cost cost : own->values) {
        marginals[*v].push_back(Clamp(cost + beside_[*v]));
      }
      for (const int child : children_[*v]) {
        auto outside = MinimumOver(buckets_.scope(child), *v, child);
        if (!outside.has_value()) return {};
        outside_[child] = std::move(*outside);
        beside_[child] = beside_[*v];
      }
    }
    return marginals;
  }

 private:
  // The least of the bucket of `v` and what is outside it, over the places of
  // `kept`, without what the child `but` left in it. Empty if stopped.
  std::optional<Table> MinimumOver(const std::vector<int>& kept, int v,
                                   std::optional<int> but) const {
    const Shape& shape = buckets_.shape();
    std::vector<View> views;
    for (const View& view : buckets_.views(v)) {
      if (!but.has_value() ||
          view.values != buckets_.left(*but).values.data()) {
        views.push_back(view);
      }
    }
    const Table own{{v}, buckets_.own(v)};
    views.push_back(ViewOf(own, shape));
    if (!buckets_.scope(v).empty()) {
      views.push_back(ViewOf(outside_[v], shape));
    }
    std::vector<Table> steps;
    for (const int u : buckets_.scope(v)) {
      if (std::find(kept.begin(), kept.end(), u) != kept.end()) continue;
      steps.push_back(Eliminate(u, std::vector<Cost>(shape.sizes[u], 0), views,
                                shape, deadline_));
      if (steps.back().values.empty()) return std::nullopt;
      views = {ViewOf(steps.back(), shape)};
    }
    Table sum = SumOver(kept, views, shape, deadline_);
    if (sum.values.empty()) return std::nullopt;
    return sum;
  }

  const Buckets& buckets_;
  const base::Deadline& deadline_;
  std::vector<std::vector<int>> children_;
  std::vector<Table> outside_;  // by variable, over its scope
  std::vector<Cost> beside_;    // what other roots cost
};

}  // namespace

std::vector<std::vector<Cost>> Marginals(const Buckets& buckets,
                                         const base::Deadline& deadline) {
  return Calibration(buckets, deadline).Run();
}

}  // namespace meshwright::search
