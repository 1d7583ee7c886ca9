#include "coordinator/space/configurations/backward_reads.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace meshwright::space {
namespace {

using ir::Opcode;

// By name, of those that are elementwise: what costs a few cycles.
constexpr std::string_view kCheap[] = {"abs",
                                       "add",
                                       "and",
                                       "ceil",
                                       "clamp",
                                       "compare",
                                       "convert",
                                       "copy",
                                       "floor",
                                       "is-finite",
                                       "maximum",
                                       "minimum",
                                       "multiply",
                                       "negate",
                                       "not",
                                       "or",
                                       "round-nearest-afz",
                                       "round-nearest-even",
                                       "select",
                                       "shift-left",
                                       "shift-right-arithmetic",
                                       "shift-right-logical",
                                       "sign",
                                       "subtract",
                                       "xor"};

bool Fuses(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBroadcast:
    case Opcode::kPad:
    case Opcode::kReduce:
    case Opcode::kSlice:
      return true;
    case Opcode::kCarry:
    case Opcode::kLoopResult:
    case Opcode::kOptimizationBarrier:
      return false;
    default:
      return ir::IsElementwise(opcode) || ir::IsLayout(opcode);
  }
}

// Those of more than one element.
int64_t CountDims(const ir::Shape& shape) {
  return std::count_if(shape.dims.begin(), shape.dims.end(),
                       [](int64_t size) { return size > 1; });
}

}  // namespace

BackwardReads::BackwardReads(const segmenter::SegmentView& view) : view_(view) {
  const int count = view.count();
  FindTwins();
  forward_.assign(count, -1);
  for (int i = count - 1; i >= 0; --i) {
    if (view_.IsForward(i)) forward_[twin_[i]] = i;
  }
  repeats_.resize(count);
  reads_.resize(count);
  // Whoever reads one of several twins stands behind the first of them.
  std::vector<std::vector<int>> twins(count);
  for (int i = count - 1; i >= 0; --i) {
    twins[twin_[i]].push_back(i);
    if (twin_[i] != i) continue;
    repeats_[i] = CanRepeat(i);
    for (const int twin : twins[i]) {
      for (const int user : view_.Users(twin)) reads_[i] |= FindRead(user);
    }
  }
  twin_reads_.resize(count);
  for (int i = 0; i < count; ++i) {
    const int forward = forward_[twin_[i]];
    if (forward == i || forward == -1) continue;
    for (const int user : view_.Users(i)) {
      twin_reads_[forward] |= FindRead(user);
    }
  }
}

// Of operations that the compiler may see to be the same: those that compute
// element by element, and what they read. It looks through no barrier, each of
// whose elements has the shapes of all.
void BackwardReads::FindTwins() {
  std::unordered_map<std::string, int> known;
  twin_.reserve(view_.count());
  for (int i = 0; i < view_.count(); ++i) {
    twin_.push_back(i);
    const Opcode opcode = view_.At(i).opcode;
    const bool may_be_seen = opcode == Opcode::kConstant ||
                             opcode == Opcode::kBroadcast ||
                             ir::IsElementwise(opcode) || ir::IsLayout(opcode);
    if (view_.IsInput(i) || !may_be_seen || ir::IsLoopBoundary(opcode) ||
        opcode == Opcode::kOptimizationBarrier) {
      continue;
    }
    hlo::HloInstructionProto key = view_.At(i).attributes();
    key.clear_id();
    key.clear_name();
    key.clear_operand_ids();
    key.clear_metadata();
    key.clear_sharding();
    for (const int operand : view_.Operands(i)) {
      key.add_operand_ids(twin_[operand]);
    }
    twin_[i] = known.try_emplace(key.SerializeAsString(), i).first->second;
  }
}

BackwardReads::Read BackwardReads::FindRead(int user) const {
  const int twin = twin_[user];
  const bool forward = forward_[twin] != -1;
  const Read& own = reads_[twin];
  const Opcode opcode = view_.At(twin).opcode;
  if (ir::IsLayout(opcode) && Fuses(opcode)) {
    return forward || own.whole ? own : Read{.fused = true};
  }
  if (!forward) {
    return Fuses(opcode) ? Read{.fused = true} : Read{.whole = true};
  }
  if (opcode == Opcode::kBroadcast) return {.fused = own.whole || own.fused};
  return {.fused = repeats_[twin] && own.fused};
}

bool BackwardReads::CanRepeat(int value) const {
  if (view_.IsInput(value)) return false;
  const ir::Instruction& it = view_.At(value);
  if (!ir::IsElementwise(it.opcode) || !Fuses(it.opcode)) return false;
  const std::string_view name = it.attributes().opcode();
  if (std::find(std::begin(kCheap), std::end(kCheap), name) ==
      std::end(kCheap)) {
    return false;
  }
  // Distinct ones: x * x reads x.
  std::set<int> large;
  for (const int operand : view_.Operands(value)) {
    const ir::Instruction& of = view_.At(operand);
    if (of.opcode == Opcode::kBroadcast || of.opcode == Opcode::kIota) continue;
    if (CountDims(of.shape) >= CountDims(it.shape)) large.insert(operand);
  }
  return large.size() <= 1;
}

}  // namespace meshwright::space
