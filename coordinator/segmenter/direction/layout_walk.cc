#include "coordinator/segmenter/direction/layout_walk.h"

#include <algorithm>
#include <optional>

#include "coordinator/ir/links/dim_links.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

struct Step {
  std::optional<ValueId> value;  // none at the end of the walk
  bool same = false;  // the very value, so every dimension is the same
};

// Behind more loops one after the other a stack is not looked for.
constexpr int kMaxBoundaries = 256;

// The stack a slice reads, behind the carries of loops.
ValueId FindStack(const Module& module, ValueId slice) {
  ValueId stack = module.at(slice).operands[0];
  for (int i = 0; i < kMaxBoundaries; ++i) {
    if (!ir::IsLoopBoundary(module.at(stack).opcode)) break;
    stack = module.at(stack).operands[0];
  }
  return stack;
}

// The operand that a value rearranges.
Step Next(const Module& module, const std::vector<ValueId>* classes,
          ValueId id) {
  const ir::Instruction& it = module.at(id);
  const std::optional<ValueId> same = IsSameValue(module, id);
  if (same.has_value()) return {same, true};
  if (classes != nullptr && (*classes)[id] != id) return {(*classes)[id], true};
  // Layer by layer a loop reads its stack of parameters.
  const bool stack = it.opcode == Opcode::kDynamicSlice && it.loop.has_value();
  const bool spread = it.opcode == Opcode::kBroadcast &&
                      it.shape.element_count() ==
                          module.at(it.operands[0]).shape.element_count();
  if (stack || spread || ir::IsLayout(it.opcode)) {
    return {it.operands[0], false};
  }
  return {};
}

// A value on the way, and the dimensions of the start there.
struct Place {
  ValueId value;
  std::vector<std::optional<int>> dims;
};

Place Start(const Module& module, ValueId id) {
  Place place{id, {}};
  for (int dim = 0; dim < module.at(id).shape.rank(); ++dim) {
    place.dims.push_back(dim);
  }
  return place;
}

// One step up; false at the end of the walk.
bool Climb(const Module& module, const std::vector<ValueId>* classes,
           Place& place) {
  const Step step = Next(module, classes, place.value);
  if (!step.value.has_value()) return false;
  if (!step.same) {
    const auto links = ir::FindDimLinks(module, place.value, 0);
    const auto& in = module.at(*step.value).shape.dims;
    const auto& out = module.at(place.value).shape.dims;
    for (std::optional<int>& dim : place.dims) {
      if (!dim.has_value()) continue;
      const auto link = std::find_if(
          links.begin(), links.end(), [&](const ir::DimLink& candidate) {
            return candidate.out == *dim &&
                   in[candidate.in] == out[candidate.out];
          });
      dim.reset();
      if (link != links.end()) dim = link->in;
    }
  }
  place.value = *step.value;
  return true;
}

}  // namespace

std::optional<ValueId> IsSameValue(const Module& module, ValueId id) {
  const ir::Instruction& it = module.at(id);
  if (it.opcode == Opcode::kCopy || it.opcode == Opcode::kOptimizationBarrier ||
      ir::IsLoopBoundary(it.opcode)) {
    return it.operands[0];
  }
  if (it.opcode == Opcode::kGetTupleElement) {
    const ir::Instruction& barrier = module.at(it.operands[0]);
    if (barrier.opcode != Opcode::kOptimizationBarrier) return std::nullopt;
    const ir::Instruction& tuple = module.at(barrier.operands[0]);
    if (tuple.opcode != Opcode::kTuple) return std::nullopt;
    return tuple.operands[it.attributes().tuple_index()];
  }
  if (it.opcode == Opcode::kDynamicSlice) {
    const ir::Instruction& stack = module.at(FindStack(module, id));
    if (stack.opcode == Opcode::kDynamicUpdateSlice &&
        module.at(stack.operands[1]).shape == it.shape) {
      return stack.operands[1];
    }
  }
  return std::nullopt;
}

std::vector<ValueId> FindLayoutBases(const Module& module,
                                     const std::vector<ValueId>* classes) {
  std::vector<ValueId> bases(module.size());
  for (const ValueId id : module.ids()) {
    const Step step = Next(module, classes, id);
    bases[id] = step.value.has_value() ? bases[*step.value] : id;
  }
  return bases;
}

std::vector<std::optional<int>> ListDimsBetween(
    const Module& module, const std::vector<ValueId>* classes, ValueId first,
    ValueId second, int64_t& looks_left) {
  Place a = Start(module, first);
  Place b = Start(module, second);
  std::vector<std::optional<int>> between(module.at(first).shape.rank());
  // A step leads to an earlier value: the later of the two cannot be above the
  // other, so that they meet where the walks first do.
  while (a.value != b.value) {
    Place& later = a.value > b.value ? a : b;
    if (--looks_left < 0 || !Climb(module, classes, later)) return between;
  }
  for (size_t i = 0; i < between.size(); ++i) {
    if (!a.dims[i].has_value()) continue;
    const auto at = std::find(b.dims.begin(), b.dims.end(), a.dims[i]);
    if (at != b.dims.end()) {
      between[i] = static_cast<int>(at - b.dims.begin());
    }
  }
  return between;
}

}  // namespace meshwright::segmenter
