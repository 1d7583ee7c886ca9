#include "coordinator/space/annotation/unsplit_boundaries.h"

#include <algorithm>
#include <utility>

#include "coordinator/ir/links/contraction_dims.h"

namespace meshwright::space {

std::optional<UnsplitBoundary> UnsplitBoundaries::Explain(int activation) {
  const auto found = labels_.without_gradient.find(activation);
  if (found != labels_.without_gradient.end()) {
    return UnsplitBoundary{.value = activation,
                           .why = UnsplitReason::kGradientOnly,
                           .at = found->second};
  }
  if (nothing_split_ && labels_.unfit.empty()) {
    return UnsplitBoundary{.value = activation,
                           .why = UnsplitReason::kNothingSplit};
  }
  if (nothing_split_) {
    return UnsplitBoundary{.value = activation,
                           .why = UnsplitReason::kNoRows,
                           .at = labels_.unfit.front()};
  }
  // The nearest forward values that no contraction parts from it.
  std::vector<int> near = {activation};
  seen_by_[activation] = activation;
  std::optional<int> root;
  for (size_t next = 0; next < near.size(); ++next) {
    const int value = near[next];
    if (labels_.closed[value]) {
      return UnsplitBoundary{
          .value = activation, .why = UnsplitReason::kInside, .at = value};
    }
    struct Neighbour {
      int value = 0;
      int between = 0;  // the operation that joins the two
    };
    std::vector<Neighbour> neighbours;
    for (int user : Users(value)) neighbours.push_back({user, user});
    for (int operand : Operands(value)) neighbours.push_back({operand, value});
    looks_left_ -= static_cast<int64_t>(neighbours.size());
    if (looks_left_ < 0) return std::nullopt;
    for (const auto& [other, between] : neighbours) {
      if (!IsForward(other) || IsRecomputable(other)) continue;
      if (IsContraction(other)) {
        if (unfit_.contains(other)) root = other;
        continue;
      }
      if (labels_.label[other] >= 0) {
        return UnsplitBoundary{
            .value = activation, .why = UnsplitReason::kStopped, .at = between};
      }
      if (std::exchange(seen_by_[other], activation) == activation) continue;
      if (!IsArgument(other)) near.push_back(other);
    }
  }
  UnsplitBoundary it{.value = activation};
  if (!root.has_value()) return it;
  it.why = UnsplitReason::kNoRows;
  it.at = *root;
  return it;
}

}  // namespace meshwright::space
