// The operations of HLO and how each passes splits on.
//
// Concept: every opcode string maps to one Opcode, whose rule dim_links.h
// carries out. Operations that pass nothing, and strings that are not in the
// table, map to kUnknown or an Opcode of their own. They are barriers, never
// errors. docs/op-rules.md is the table for people.
#ifndef MESHWRIGHT_COORDINATOR_IR_OPCODE_H_
#define MESHWRIGHT_COORDINATOR_IR_OPCODE_H_

#include <string_view>
#include <vector>

namespace meshwright::ir {

enum class Opcode {
  kUnknown,
  kElementwise,  // every operation that maps equal indices to equal indices
  kBatchNormInference,
  kBitcast,
  kBitcastConvert,
  kBroadcast,
  kCall,
  kCarry,  // a value as it enters a trip of a loop; written as a copy
  kCholesky,
  kCollective,  // of the devices the step already runs on
  kConcatenate,
  kConditional,
  kConstant,
  kConvert,
  kConvolution,
  kCopy,
  kCustomCall,
  kDot,
  kDynamicSlice,
  kDynamicUpdateSlice,
  kFft,
  kGather,
  kGetTupleElement,
  kIota,
  kLoopResult,  // a value as it leaves a loop; written as a copy
  kOptimizationBarrier,
  kPad,
  kParameter,
  kReduce,
  kReduceWindow,
  kReshape,
  kReverse,
  kRngBitGenerator,
  kScatter,
  kSelect,
  kSelectAndScatter,
  kSlice,
  kSort,
  kTopK,
  kTranspose,
  kTriangularSolve,
  kTuple,
  kWhile,
};

struct OpRule {
  std::string_view name;
  Opcode opcode = Opcode::kUnknown;
  std::string_view rule;  // what passes or, of a barrier, why nothing does
  bool barrier = false;   // passes nothing, whatever the shapes
};

// Every operation of HLO, by name.
const std::vector<OpRule>& OpRules();

Opcode ParseOpcode(std::string_view name);

// The `rule` of an operation; of one that is not in the table, why it passes
// nothing.
std::string_view FindRule(std::string_view name);

// Operations whose output index equals every operand's index, kConvert, kCopy
// and kSelect included.
bool IsElementwise(Opcode opcode);

bool IsLoopBoundary(Opcode opcode);

// Operations that move elements without computing: what gradient matching
// looks through.
bool IsLayout(Opcode opcode);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_OPCODE_H_
