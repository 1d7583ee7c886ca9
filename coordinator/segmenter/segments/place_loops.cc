#include "coordinator/segmenter/segments/placement_steps.h"

namespace meshwright::segmenter {

using ir::ValueId;

void KeepGroups(const std::vector<Segment>& cover, Placement& at) {
  std::vector<char> torn(at.groups.count, 0);
  at.kept_cover.resize(at.groups.count);
  for (size_t s = 0; s < cover.size(); ++s) {
    for (int b = cover[s].first_block; b < cover[s].last_block; ++b) {
      for (ValueId id : at.blocks.blocks[b].contractions) {
        const std::optional<int> group = at.groups.Find(at.module, id);
        if (!group.has_value()) continue;
        std::optional<size_t>& kept = at.kept_cover[*group];
        torn[*group] |= kept.has_value() && *kept != s;
        kept = s;
      }
    }
  }
  for (int group = 0; group < at.groups.count; ++group) {
    if (torn[group]) at.kept_cover[group].reset();
  }
  at.plan.kept_loops.assign(at.module.loops.size(), 0);
  for (size_t loop = 0; loop < at.module.loops.size(); ++loop) {
    const std::optional<int> group = at.groups.of_loop[loop];
    at.plan.kept_loops[loop] =
        group.has_value() && at.kept_cover[*group].has_value();
  }
}

void GatherSmallLoops(Placement& at) {
  if (at.module.loops.empty()) return;
  std::vector<Owner> owners(at.module.loops.size());
  const auto small = [&](ValueId id) -> std::optional<ir::LoopId> {
    const ir::Instruction& it = at.module.at(id);
    std::optional<ir::LoopId> loop = it.loop;
    if (!loop.has_value() && it.boundary.has_value()) loop = it.boundary->loop;
    if (loop.has_value() && at.groups.has_contraction[*loop]) loop.reset();
    return loop;
  };
  const auto top = [&](ir::LoopId loop) {
    while (at.module.loops[loop].parent.has_value() &&
           !at.groups.has_contraction[*at.module.loops[loop].parent]) {
      loop = *at.module.loops[loop].parent;
    }
    return loop;
  };
  for (const ValueId id : at.module.ids().Reversed()) {
    const std::optional<ir::LoopId> loop = small(id);
    if (loop.has_value() && at.plan.owner[id].IsSegment()) {
      owners[top(*loop)] = at.plan.owner[id];
    }
  }
  for (const ValueId id : at.module.ids()) {
    const std::optional<ir::LoopId> loop = small(id);
    if (!loop.has_value()) continue;
    const Owner owner = owners[top(*loop)];
    if (owner.IsSegment()) at.plan.owner[id] = owner;
    at.plan.kept_loops[*loop] = 1;
  }
}

}  // namespace meshwright::segmenter
