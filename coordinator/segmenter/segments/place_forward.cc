#include "coordinator/segmenter/segments/placement_steps.h"

namespace meshwright::segmenter {
namespace {

using ir::Opcode;
using ir::ValueId;

// Forward, and no block consumes it: on the way to the loss only.
bool IsTail(const Placement& at, ir::ValueId id) {
  return at.passes.forward[id] && !at.blocks.owner_block[id].has_value() &&
         at.Owned(id);
}

// Where the operands come from, so that what crosses to the loss is small;
// sums over several segments belong to the end.
SegmentIndex TailOwner(ir::ValueId id, Placement& at) {
  const auto [lowest, highest] = at.ListOperandOwners(id);
  if (!highest.has_value()) return at.tail;
  if (highest != lowest && at.scalar_like[id]) return at.Glue();
  if (highest != lowest || highest == at.last) return at.tail;
  return *highest;
}

// A value without contractions that several segments read is computed once,
// at the front.
void PlaceSharedForward(Placement& at) {
  if (!at.has_prologue) return;
  for (const ValueId id : at.module.ids().Reversed()) {
    if (!at.passes.forward[id] || !at.Owned(id) ||
        at.passes.has_contraction[id] || !at.plan.owner[id].IsSegment() ||
        at.plan.owner[id] == kPrologue || at.KeptSegment(id).has_value()) {
      continue;
    }
    for (ValueId user : at.module.at(id).users) {
      if (at.passes.forward[user] && at.plan.owner[user].IsSegment() &&
          at.plan.owner[user] != at.plan.owner[id]) {
        at.plan.owner[id] = kPrologue;
      }
    }
  }
}

}  // namespace

bool HasTail(const Placement& at) {
  for (const ValueId id : at.module.ids()) {
    if (IsTail(at, id)) return true;
  }
  return false;
}

void PlaceForward(const std::vector<char>& prologue,
                  const std::vector<SegmentIndex>& segment_of_block,
                  Placement& at) {
  for (const ValueId id : at.module.ids()) {
    Owner& owner = at.plan.owner[id];
    if (at.passes.recomputable[id] &&
        at.module.at(id).opcode != Opcode::kParameter) {
      owner = Owner::Everywhere();
    }
    const std::optional<SegmentIndex> kept = at.KeptSegment(id);
    if (kept.has_value()) {
      if (at.Owned(id)) owner = *kept;
      continue;
    }
    if (!at.passes.forward[id] || !at.Owned(id)) continue;
    if (prologue[id]) {
      owner = kPrologue;
    } else if (at.blocks.owner_block[id].has_value()) {
      owner = segment_of_block[*at.blocks.owner_block[id]];
    } else {
      owner = TailOwner(id, at);
    }
  }
  PlaceSharedForward(at);
}

}  // namespace meshwright::segmenter
