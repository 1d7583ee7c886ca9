#include <algorithm>
#include <optional>

#include "coordinator/segmenter/segments/placement_steps.h"

namespace meshwright::segmenter {
namespace {

using ir::Opcode;
using ir::ValueId;

// A value that a step placed, and no kept loop holds.
bool MayMove(const Placement& at, ValueId id) {
  return at.plan.owner[id].IsSegment() && !at.KeptSegment(id).has_value();
}

// To the segment that makes the tuple it reads, if another one does.
void GoToMaker(ValueId id, Placement& at) {
  for (const ValueId operand : at.module.at(id).operands) {
    const ir::Instruction& read = at.module.at(operand);
    if (!read.shape.is_tuple() || read.opcode == Opcode::kTuple ||
        !at.plan.owner[operand].IsSegment()) {
      continue;
    }
    at.plan.owner[id] = at.plan.owner[operand];
  }
}

// To the last of the segments that read it.
void GoToTupleReader(ValueId id, Placement& at) {
  std::optional<SegmentIndex> reader;
  for (const ValueId user : at.module.at(id).users) {
    reader = std::max(reader, at.plan.owner[user].FindSegment());
  }
  if (reader.has_value()) at.plan.owner[id] = *reader;
}

}  // namespace

void GatherTuples(Placement& at) {
  for (const ValueId id : at.module.ids()) {
    if (MayMove(at, id)) GoToMaker(id, at);
  }
  for (const ValueId id : at.module.ids().Reversed()) {
    if (at.module.at(id).opcode == Opcode::kTuple && MayMove(at, id)) {
      GoToTupleReader(id, at);
    }
  }
}

}  // namespace meshwright::segmenter
