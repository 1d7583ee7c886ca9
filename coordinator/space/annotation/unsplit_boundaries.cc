#include "coordinator/space/annotation/unsplit_boundaries.h"

#include <algorithm>
#include <utility>

#include "coordinator/ir/links/contraction_dims.h"

namespace meshwright::space {

bool UnsplitBoundaries::IsUnfit(int value) const {
  return std::find(labels_.unfit.begin(), labels_.unfit.end(), value) !=
         labels_.unfit.end();
}

UnsplitBoundary UnsplitBoundaries::Explain(int activation) const {
  const auto found = labels_.without_gradient.find(activation);
  if (found != labels_.without_gradient.end()) {
    return {.value = activation,
            .why = UnsplitReason::kGradientOnly,
            .at = found->second};
  }
  const bool nothing = std::none_of(labels_.label.begin(), labels_.label.end(),
                                    [](int dim) { return dim >= 0; });
  if (nothing && labels_.unfit.empty()) {
    return {.value = activation, .why = UnsplitReason::kNothingSplit};
  }
  if (nothing) {
    return {.value = activation,
            .why = UnsplitReason::kNoRows,
            .at = labels_.unfit.front()};
  }
  // The nearest forward values that no contraction parts from it.
  std::vector<char> seen(graph_.values.size(), 0);
  std::vector<int> near = {activation};
  seen[activation] = 1;
  int root = -1;
  for (size_t next = 0; next < near.size(); ++next) {
    const int value = near[next];
    if (labels_.closed[value]) {
      return {.value = activation, .why = UnsplitReason::kInside, .at = value};
    }
    // Every neighbour with the operation between the two.
    std::vector<std::pair<int, int>> neighbours;
    for (int user : Users(value)) {
      neighbours.emplace_back(user, user);
    }
    for (int operand : Operands(value)) {
      neighbours.emplace_back(operand, value);
    }
    for (const auto& [other, between] : neighbours) {
      if (!IsForward(other) || IsRecomputable(other)) continue;
      if (IsContraction(other)) {
        if (IsUnfit(other)) root = other;
        continue;
      }
      if (labels_.label[other] >= 0) {
        return {
            .value = activation, .why = UnsplitReason::kStopped, .at = between};
      }
      if (seen[other]) continue;
      seen[other] = 1;
      if (!IsArgument(other)) near.push_back(other);
    }
  }
  if (root < 0)
    return {.value = activation, .why = UnsplitReason::kNothingSplit};
  return {.value = activation, .why = UnsplitReason::kNoRows, .at = root};
}

}  // namespace meshwright::space
