#include "coordinator/operators/step_graph.h"

#include <algorithm>

#include "coordinator/operators/work_counter.h"

namespace meshwright::operators {
namespace {

using ir::Instruction;
using ir::Module;
using ir::Opcode;
using ir::ValueId;
using symbolic::Operation;
using symbolic::Storage;

Storage ChooseStorage(const Instruction& it) {
  switch (it.opcode) {
    case Opcode::kParameter:
      return Storage::kArgument;
    case Opcode::kConstant:
      return Storage::kConstant;
    case Opcode::kBitcast:
    case Opcode::kCarry:
    case Opcode::kGetTupleElement:
    case Opcode::kLoopResult:
    case Opcode::kOptimizationBarrier:
    case Opcode::kReshape:
      return it.operands.empty() ? Storage::kOwn : Storage::kView;
    default:
      return Storage::kOwn;
  }
}

bool IsFusible(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBatchNormInference:
    case Opcode::kBitcastConvert:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kDynamicSlice:
    case Opcode::kElementwise:
    case Opcode::kGather:
    case Opcode::kIota:
    case Opcode::kPad:
    case Opcode::kReverse:
    case Opcode::kSelect:
    case Opcode::kSlice:
    case Opcode::kTranspose:
    case Opcode::kTuple:
      return true;
    default:
      return false;
  }
}

bool Absorbs(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBitcast:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGetTupleElement:
    case Opcode::kReduce:
    case Opcode::kReshape:
      return true;
    default:
      return IsFusible(opcode);
  }
}

bool IsInPlace(Opcode opcode) {
  switch (opcode) {
    case Opcode::kCollective:
    case Opcode::kConvert:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kElementwise:
    case Opcode::kScatter:
    case Opcode::kSelect:
    case Opcode::kSort:
      return true;
    default:
      return false;
  }
}

// Bytes touched: of operand `number`, and written.
class Touched {
 public:
  Touched(const Module& module, const Instruction& it)
      : module_(module), it_(it), own_(it.shape.byte_size()) {}

  int64_t Reads(int number) const {
    const int64_t whole = Bytes(number);
    switch (it_.opcode) {
      case Opcode::kSlice:
      case Opcode::kDynamicSlice:
      case Opcode::kGather:
        return number == 0 ? std::min(own_, whole) : whole;
      case Opcode::kDynamicUpdateSlice:
        return number == 0 ? 0 : whole;
      case Opcode::kScatter: {
        // Inputs, indices, updates; an input is touched where updates are.
        const int inputs = static_cast<int>(it_.operands.size()) / 2;
        return number < inputs ? std::min(whole, Bytes(inputs + 1 + number))
                               : whole;
      }
      case Opcode::kTriangularSolve:
      case Opcode::kCholesky:
        return number == 0 ? whole / 2 : whole;
      default:
        return whole;
    }
  }

  int64_t Writes() const {
    switch (it_.opcode) {
      case Opcode::kDynamicUpdateSlice:
        return std::min(own_, Bytes(1));
      case Opcode::kScatter: {
        const int inputs = static_cast<int>(it_.operands.size()) / 2;
        int64_t bytes = 0;
        for (int i = 0; i < inputs; ++i) bytes += Bytes(inputs + 1 + i);
        return std::min(own_, bytes);
      }
      case Opcode::kCholesky:
        return own_ / 2;
      default:
        return own_;
    }
  }

 private:
  int64_t Bytes(int number) const {
    return number < static_cast<int>(it_.operands.size())
               ? module_.at(it_.operands[number]).shape.byte_size()
               : 0;
  }

  const Module& module_;
  const Instruction& it_;
  const int64_t own_;
};

int64_t CountTrips(const Module& module, const Instruction& it) {
  constexpr int64_t kMaxTrips = int64_t{1} << 50;
  int64_t trips = 1;
  for (std::optional<ir::LoopId> loop = it.loop; loop.has_value();
       loop = module.loops[*loop].parent) {
    const int64_t inner = std::max<int64_t>(1, module.loops[*loop].trips);
    trips = inner > kMaxTrips / trips ? kMaxTrips : trips * inner;
  }
  return trips;
}

std::string NameKind(const Instruction& it) {
  if (it.opcode == Opcode::kCarry) return "loop-carry";
  if (it.opcode == Opcode::kLoopResult) return "loop-result";
  return it.attributes().opcode();
}

}  // namespace

symbolic::OpGraph ReadModule(const Module& module) {
  symbolic::OpGraph graph;
  WorkCounter work(module);
  for (const ValueId id : module.ids()) {
    const Instruction& it = module.at(id);
    Operation& operation = graph.operations.emplace_back();
    operation.name = it.name();
    operation.kind = NameKind(it);
    operation.op = id;
    operation.trips = CountTrips(module, it);
    operation.storage = ChooseStorage(it);
    operation.fusible = IsFusible(it.opcode);
    operation.absorbs = Absorbs(it.opcode);
    operation.in_place = IsInPlace(it.opcode);
    if (id == module.root && it.opcode == Opcode::kTuple) continue;
    operation.counts = work.Count(id);
    const bool moves =
        operation.storage == Storage::kOwn && it.opcode != Opcode::kTuple;
    // A tuple holds what its elements hold.
    if (it.opcode != Opcode::kTuple) operation.bytes = it.shape.byte_size();
    const Touched touched(module, it);
    for (size_t k = 0; k < it.operands.size(); ++k) {
      operation.reads.push_back(
          {static_cast<int>(it.operands[k]),
           moves ? touched.Reads(static_cast<int>(k)) : int64_t{0}});
    }
    if (moves) operation.written_bytes = touched.Writes();
  }
  graph.operators = module.size();
  for (ValueId id : module.outputs)
    graph.outputs.push_back({static_cast<int>(id), {}});
  for (const ir::Alias& alias : module.aliases) {
    graph.outputs[alias.output].argument = module.parameters[alias.parameter];
  }
  return graph;
}

symbolic::OpGraph ReadStep(const segmenter::Analysis& analysis) {
  symbolic::OpGraph graph = ReadModule(analysis.module);
  for (const ValueId id : analysis.module.ids()) {
    Operation& operation = graph.operations[id];
    operation.forward = analysis.passes.forward[id] != 0;
    if (const auto& owner = analysis.plan.owner[id]; owner.IsSegment()) {
      operation.segment = static_cast<int>(owner.segment());
    }
    const auto gradient = analysis.gradients.find(id);
    if (gradient != analysis.gradients.end()) {
      operation.op = gradient->second.forward;
    }
  }
  graph.segments = static_cast<int>(analysis.plan.segments.size());
  return graph;
}

}  // namespace meshwright::operators
