#include "coordinator/segmenter/segments/placement.h"

#include <algorithm>

namespace meshwright::segmenter {

bool Placement::Owned(ir::ValueId id) const {
  return module.at(id).opcode != ir::Opcode::kParameter &&
         !passes.recomputable[id] &&
         !(id == module.root && module.at(id).opcode == ir::Opcode::kTuple);
}

std::optional<SegmentIndex> Placement::KeptSegment(ir::ValueId id) const {
  const ir::Instruction& it = module.at(id);
  const auto boundary =
      it.boundary.has_value() ? std::optional(it.boundary->loop) : std::nullopt;
  for (const std::optional<ir::LoopId>& loop : {it.loop, boundary}) {
    if (loop.has_value() && plan.kept_loops[*loop]) {
      return SegmentIndex(*kept_cover[*groups.of_loop[*loop]] +
                          (has_prologue ? 1 : 0));
    }
  }
  return std::nullopt;
}

OwnerRange Placement::ListOperandOwners(ir::ValueId id) const {
  OwnerRange range;
  for (ir::ValueId operand : module.at(id).operands) {
    const std::optional<SegmentIndex> owner = plan.owner[operand].FindSegment();
    if (!owner.has_value()) continue;
    range.highest = std::max(range.highest, owner);
    range.lowest = std::min(range.lowest.value_or(*owner), *owner);
  }
  return range;
}

SegmentIndex Placement::Glue() {
  if (!glue.has_value()) {
    glue = SegmentIndex(plan.segments.size());
    const int end = static_cast<int>(blocks.blocks.size());
    plan.segments.push_back({end, end});
  }
  return *glue;
}

void FindScalarLike(Placement& at) {
  at.scalar_like.assign(at.module.size(), 0);
  for (const ir::ValueId id : at.module.ids()) {
    const ir::Instruction& it = at.module.at(id);
    if (it.shape.is_tuple()) continue;
    at.scalar_like[id] =
        it.shape.is_scalar() ||
        (it.shape.rank() == 1 && !it.operands.empty() &&
         (ir::IsElementwise(it.opcode) || ir::IsLayout(it.opcode) ||
          it.opcode == ir::Opcode::kConcatenate ||
          (it.opcode == ir::Opcode::kBroadcast && it.shape.dims[0] == 1)) &&
         std::all_of(it.operands.begin(), it.operands.end(),
                     [&](ir::ValueId operand) {
                       return at.scalar_like[operand] != 0;
                     }));
  }
}

}  // namespace meshwright::segmenter
