#include "coordinator/segmenter/congruence.h"

#include <unordered_map>

#include "base/fingerprint.h"
#include "coordinator/segmenter/layout_walk.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

// Values that are equal to nothing but themselves.
bool IsUnique(Opcode opcode) {
  switch (opcode) {
    case Opcode::kParameter:
    case Opcode::kUnknown:
    case Opcode::kCustomCall:
    case Opcode::kWhile:
    case Opcode::kConditional:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<ValueId> FindClasses(const Module& module,
                                 const std::vector<uint64_t>& hashes) {
  std::vector<ValueId> classes(module.size());
  std::unordered_map<uint64_t, ValueId> known;
  known.reserve(module.size());
  for (ValueId id = 0; id < module.size(); ++id) {
    const ir::Instruction& it = module.at(id);
    classes[id] = id;
    if (IsUnique(it.opcode)) continue;
    const ValueId same = SameValue(module, id);
    if (same >= 0) {
      classes[id] = classes[same];
      continue;
    }
    if (it.opcode == Opcode::kReshape) {
      const ir::Instruction& source = module.at(classes[it.operands[0]]);
      if (source.opcode == Opcode::kReshape &&
          module.at(source.operands[0]).shape == it.shape) {
        classes[id] = classes[source.operands[0]];
        continue;
      }
    }
    uint64_t key = hashes[id];
    const bool slice_of_stack =
        it.opcode == Opcode::kDynamicSlice && it.loop != ir::kNoLoop;
    const size_t counted = slice_of_stack ? 1 : it.operands.size();
    for (size_t k = 0; k < counted; ++k) {
      key = base::Mix(key, static_cast<uint64_t>(classes[it.operands[k]]));
    }
    const auto [found, added] = known.emplace(key, id);
    const ir::Instruction& first = module.at(found->second);
    if (!added && first.opcode == it.opcode && first.shape == it.shape) {
      classes[id] = found->second;
    }
  }
  return classes;
}

}  // namespace meshwright::segmenter
