#include "coordinator/segmenter/segments/placement.h"

namespace meshwright::segmenter {

using ir::ValueId;

void KeepGroups(const std::vector<Segment>& cover, Placement& at) {
  std::vector<int> first(at.groups.count, kNoSegment);
  at.kept_cover.assign(at.groups.count, kNoSegment);
  for (size_t s = 0; s < cover.size(); ++s) {
    for (int b = cover[s].first_block; b < cover[s].last_block; ++b) {
      for (ValueId id : at.blocks.blocks[b].contractions) {
        const int group = at.groups.Find(at.module, id);
        if (group < 0) continue;
        const int here = static_cast<int>(s);
        at.kept_cover[group] =
            first[group] == kNoSegment || first[group] == here ? here
                                                               : kFarSegment;
        first[group] = at.kept_cover[group] == kFarSegment ? kFarSegment : here;
      }
    }
  }
  at.plan.kept_loops.assign(at.module.loops.size(), 0);
  for (size_t loop = 0; loop < at.module.loops.size(); ++loop) {
    const int group = at.groups.of_loop[loop];
    at.plan.kept_loops[loop] = group >= 0 && at.kept_cover[group] >= 0 &&
                               at.kept_cover[group] != kFarSegment;
  }
}

void GatherSmallLoops(Placement& at) {
  if (at.module.loops.empty()) return;
  std::vector<int> owners(at.module.loops.size(), kNoSegment);
  const auto small = [&](ValueId id) {
    const ir::Instruction& it = at.module.at(id);
    const ir::LoopId loop = it.loop != ir::kNoLoop ? it.loop : it.boundary;
    return loop == ir::kNoLoop || at.groups.has_contraction[loop] ? ir::kNoLoop
                                                                  : loop;
  };
  const auto top = [&](ir::LoopId loop) {
    while (at.module.loops[loop].parent != ir::kNoLoop &&
           !at.groups.has_contraction[at.module.loops[loop].parent]) {
      loop = at.module.loops[loop].parent;
    }
    return loop;
  };
  for (ValueId id = at.module.size() - 1; id >= 0; --id) {
    const ir::LoopId loop = small(id);
    if (loop != ir::kNoLoop && at.plan.owner[id] >= 0) {
      owners[top(loop)] = at.plan.owner[id];
    }
  }
  for (ValueId id = 0; id < at.module.size(); ++id) {
    const ir::LoopId loop = small(id);
    if (loop == ir::kNoLoop) continue;
    const int owner = owners[top(loop)];
    if (owner >= 0) at.plan.owner[id] = owner;
    at.plan.kept_loops[loop] = 1;
  }
}

}  // namespace meshwright::segmenter
