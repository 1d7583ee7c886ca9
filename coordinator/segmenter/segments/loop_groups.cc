#include "coordinator/segmenter/segments/loop_groups.h"

#include <algorithm>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/segmenter/blocks/union_find.h"

namespace meshwright::segmenter {
namespace {

using ir::LoopId;
using ir::Module;
using ir::ValueId;

// The loops around a value, innermost first.
template <typename Visit>
void ForEachAround(const Module& module, ValueId id, Visit visit) {
  for (std::optional<LoopId> loop = module.at(id).loop; loop.has_value();
       loop = module.loops[*loop].parent) {
    visit(*loop);
  }
}

}  // namespace

LoopGroups FindLoopGroups(const Module& module,
                          const GradientMatches& gradients) {
  const size_t count = module.loops.size();
  LoopGroups groups;
  groups.of_loop.resize(count);
  groups.has_contraction.assign(count, 0);
  if (count == 0) return groups;
  for (const ValueId id : module.ids()) {
    if (!ir::IsContraction(module, id)) continue;
    ForEachAround(module, id,
                  [&](LoopId loop) { groups.has_contraction[loop] = 1; });
  }
  // A loop around a contraction and the one that differentiates it.
  std::vector<char> both(count, 0);
  for (const auto& [backward, match] : gradients) {
    if (match.recomputation) continue;
    std::vector<LoopId> around;  // few: calls and loops nest 64 deep at most
    ForEachAround(module, match.forward,
                  [&](LoopId loop) { around.push_back(loop); });
    ForEachAround(module, backward, [&](LoopId loop) {
      both[loop] |= std::count(around.begin(), around.end(), loop) > 0;
    });
  }
  // The outermost loop with one direction, for every loop inside.
  std::vector<std::optional<int>> top(count);
  for (size_t loop = 0; loop < count; ++loop) {
    const std::optional<LoopId> parent = module.loops[loop].parent;
    if (parent.has_value() && top[*parent].has_value()) {
      top[loop] = top[*parent];
    } else if (!both[loop] && groups.has_contraction[loop]) {
      top[loop] = static_cast<int>(loop);
    }
  }
  UnionFind joined(static_cast<int>(count));
  for (const auto& [backward, match] : gradients) {
    const std::optional<LoopId> a = module.at(match.forward).loop;
    const std::optional<LoopId> b = module.at(backward).loop;
    if (!a.has_value() || !b.has_value() || !top[*a].has_value() ||
        !top[*b].has_value()) {
      continue;
    }
    joined.Union(*top[*a], *top[*b]);
  }
  std::vector<std::optional<int>> number(count);
  for (size_t loop = 0; loop < count; ++loop) {
    if (!top[loop].has_value()) continue;
    const int group = joined.Find(*top[loop]);
    if (!number[group].has_value()) number[group] = groups.count++;
    groups.of_loop[loop] = number[group];
  }
  return groups;
}

}  // namespace meshwright::segmenter
