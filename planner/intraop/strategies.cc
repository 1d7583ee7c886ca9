#include "planner/intraop/strategies.h"

#include <algorithm>

#include "planner/problem/duration.h"

namespace meshwright::intraop {
namespace {

// Axes of one device split nothing.
bool Divides(const Operator& it, const Mesh& mesh, const Strategy& strategy) {
  for (size_t index = 0; index < it.indices.size(); ++index) {
    const int64_t parts = Parts(strategy, mesh, {static_cast<int>(index)});
    if (it.indices[index].divisible % parts != 0) return false;
  }
  return true;
}

bool UsesEveryAxis(const Mesh& mesh, const Strategy& strategy) {
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (mesh[axis] > 1 && !strategy[axis].has_value()) return false;
  }
  return true;
}

}  // namespace

int64_t Parts(const Strategy& strategy, const Mesh& mesh,
              const std::vector<int>& indices) {
  int64_t parts = 1;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (strategy[axis].has_value() &&
        std::find(indices.begin(), indices.end(), *strategy[axis]) !=
            indices.end()) {
      parts = problem::SaturatingMultiply(parts, mesh[axis]);
    }
  }
  return parts;
}

std::vector<Strategy> ListStrategies(const Operator& it, const Mesh& mesh,
                                     bool must_split) {
  std::vector<Strategy> found = {Strategy(mesh.size())};
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (mesh[axis] < 2) continue;
    std::vector<Strategy> extended;
    for (const Strategy& outer : found) {
      const auto extend = [&](std::optional<int> index) {
        Strategy strategy = outer;
        strategy[axis] = index;
        if (Divides(it, mesh, strategy)) extended.push_back(strategy);
      };
      extend(std::nullopt);
      for (size_t i = 0; i < it.indices.size(); ++i) {
        extend(static_cast<int>(i));
      }
    }
    found = std::move(extended);
  }
  if (must_split) {
    std::vector<Strategy> split;
    for (const Strategy& strategy : found) {
      if (UsesEveryAxis(mesh, strategy)) split.push_back(strategy);
    }
    if (!split.empty()) found = std::move(split);
  }
  return found;
}

Strategy ChooseDataParallel(const Operator& it, const Mesh& mesh) {
  Strategy strategy(mesh.size());
  if (!it.rows.has_value()) return strategy;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (mesh[axis] < 2) continue;
    strategy[axis] = *it.rows;
    if (!Divides(it, mesh, strategy)) strategy[axis].reset();
  }
  return strategy;
}

layout::Spec MakeSpec(const Strategy& strategy,
                      const std::vector<int>& indices) {
  layout::Spec spec(indices.size());
  for (size_t axis = 0; axis < strategy.size(); ++axis) {
    if (!strategy[axis].has_value()) continue;
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      if (indices[dim] != *strategy[axis]) continue;
      spec[dim].push_back(static_cast<int>(axis));
      break;  // an axis splits one dimension
    }
  }
  return spec;
}

}  // namespace meshwright::intraop
