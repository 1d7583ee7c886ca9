#include "coordinator/ir/loops.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace meshwright::ir {
namespace {

constexpr int64_t kMaxTrips = int64_t{1} << 40;

std::optional<int64_t> Integer(const hlo::HloInstructionProto& constant) {
  const hlo::LiteralProto& literal = constant.literal();
  if (constant.opcode() != "constant") return std::nullopt;
  if (literal.s32s_size() == 1) return literal.s32s(0);
  if (literal.s64s_size() == 1) return literal.s64s(0);
  if (literal.u32s_size() == 1) return literal.u32s(0);
  if (literal.u64s_size() == 1 && literal.u64s(0) <= INT64_MAX) {
    return static_cast<int64_t>(literal.u64s(0));
  }
  return std::nullopt;
}

// The value of a carried element on the next trip.
ValueId Next(const Module& module, const Loop& loop, int element) {
  return module.at(*loop.results[element]).operands[0];
}

// A carry whose element is equal on every trip, as far as the loop is taken in.
bool IsInvariantCarry(const Module& module, ValueId id) {
  const Instruction& it = module.at(id);
  if (it.opcode != Opcode::kCarry) return false;
  const Loop& loop = module.loops[it.boundary->loop];
  const int element = it.boundary->element;
  return element < static_cast<int>(loop.results.size()) &&
         loop.results[element].has_value() && Next(module, loop, element) == id;
}

// Through copies and the carries of outer loops, which may hand on a constant.
std::optional<int64_t> Integer(const Module& module, ValueId id) {
  // Nothing is verified yet.
  while ((module.at(id).opcode == Opcode::kCopy &&
          !module.at(id).operands.empty()) ||
         IsInvariantCarry(module, id)) {
    id = module.at(id).operands[0];
  }
  const Instruction& it = module.at(id);
  return it.opcode == Opcode::kConstant ? Integer(it.attributes())
                                        : std::nullopt;
}

// One side of the condition's comparison: an element or a constant.
struct Side {
  std::optional<int> element;
  std::optional<int64_t> constant;
};

}  // namespace

void CountTrips(const Module& module, const hlo::HloComputationProto& condition,
                Loop& loop) {
  loop.tested.clear();
  std::unordered_map<int64_t, const hlo::HloInstructionProto*> by_id;
  for (const hlo::HloInstructionProto& it : condition.instructions()) {
    by_id[it.id()] = &it;
    if (it.opcode() == "get-tuple-element" && it.tuple_index() >= 0 &&
        it.tuple_index() < static_cast<int64_t>(loop.carries.size())) {
      loop.tested.push_back(static_cast<int>(it.tuple_index()));
    }
  }
  const auto root = by_id.find(condition.root_id());
  if (root == by_id.end() || root->second->opcode() != "compare" ||
      root->second->operand_ids_size() != 2) {
    return;
  }
  Side sides[2];
  for (int k = 0; k < 2; ++k) {
    const auto found = by_id.find(root->second->operand_ids(k));
    if (found == by_id.end()) return;
    const hlo::HloInstructionProto& it = *found->second;
    sides[k].constant = Integer(it);
    if (it.opcode() != "get-tuple-element") continue;
    const int64_t element = it.tuple_index();
    if (element < 0 || element >= static_cast<int64_t>(loop.carries.size())) {
      return;
    }
    // An element that never changes may hold the limit.
    const ValueId carry = *loop.carries[element];
    if (Next(module, loop, static_cast<int>(element)) == carry) {
      sides[k].constant = Integer(module, module.at(carry).operands[0]);
    } else {
      sides[k].element = static_cast<int>(element);
    }
  }
  std::string direction = root->second->comparison_direction();
  if (!sides[0].element.has_value()) {
    std::swap(sides[0], sides[1]);
    for (char& c : direction) c = c == 'L' ? 'G' : c == 'G' ? 'L' : c;
  }
  if (!sides[0].element.has_value() || !sides[1].constant.has_value()) return;
  const int element = *sides[0].element;
  const ValueId carry = *loop.carries[element];
  const Instruction& next = module.at(Next(module, loop, element));
  const std::optional<int64_t> start =
      Integer(module, module.at(carry).operands[0]);
  if (!start.has_value() || next.operands.size() != 2) return;
  const bool down = next.attributes().opcode() == "subtract";
  if (!down && next.attributes().opcode() != "add") return;
  const int self = next.operands[0] == carry ? 0 : 1;
  if (next.operands[self] != carry || (down && self != 0)) return;
  const std::optional<int64_t> stride =
      Integer(module, next.operands[1 - self]);
  if (!stride.has_value() || *stride == INT64_MIN) return;
  const int64_t step = down ? -*stride : *stride;
  const bool upwards = direction == "LT" || direction == "LE";
  if ((!upwards && direction != "GT" && direction != "GE") || step == 0 ||
      (step > 0) != upwards) {
    return;
  }
  int64_t distance;
  if (__builtin_sub_overflow(*sides[1].constant, *start, &distance) ||
      distance == INT64_MIN) {
    return;
  }
  // Trips while start + step * trip is before the limit.
  const int64_t length = upwards ? distance : -distance;
  const int64_t stride_length = upwards ? step : -step;
  const bool with_limit = direction == "LE" || direction == "GE";
  if (length < 0 || length > kMaxTrips || stride_length < 0) return;
  // The last trip is before the limit.
  if (length == 0 && !with_limit) return;
  const int64_t trips = (length - (with_limit ? 0 : 1)) / stride_length + 1;
  loop.counter = element;
  loop.start = *start;
  loop.step = step;
  loop.trips = trips;
}

LoopWalk::LoopWalk(const Module& module)
    : module_(module), seen_(module.loops.size()) {}

std::vector<ValueId> LoopWalk::ListPredecessors(ValueId id) {
  const Instruction& it = module_.at(id);
  std::vector<ValueId> before = it.operands;
  if (!IsLoopBoundary(it.opcode)) return before;
  const bool enters = it.opcode == Opcode::kCarry;
  Seen& seen = seen_[it.boundary->loop];
  if (std::exchange(enters ? seen.entered : seen.left, walk_) == walk_) {
    return before;
  }
  const Loop& loop = module_.loops[it.boundary->loop];
  for (const auto& other : enters ? loop.carries : loop.results) {
    if (other.has_value() && other != id) {
      before.push_back(module_.at(*other).operands[0]);
    }
  }
  return before;
}

std::vector<ValueId> LoopWalk::ListCompanions(ValueId id) {
  const Instruction& it = module_.at(id);
  std::vector<ValueId> alive;
  if (it.loop.has_value() &&
      std::exchange(seen_[*it.loop].kept, walk_) != walk_) {
    const Loop& around = module_.loops[*it.loop];
    if (around.counter.has_value()) {
      alive.push_back(*around.carries[*around.counter]);
    } else {
      for (int element : around.tested) {
        alive.push_back(*around.carries[element]);
      }
    }
  }
  if (it.opcode == Opcode::kCarry) {
    alive.push_back(
        *module_.loops[it.boundary->loop].results[it.boundary->element]);
  } else if (it.opcode == Opcode::kLoopResult) {
    alive.push_back(
        *module_.loops[it.boundary->loop].carries[it.boundary->element]);
  }
  return alive;
}

}  // namespace meshwright::ir
