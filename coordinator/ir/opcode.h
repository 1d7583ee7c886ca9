// The operations of HLO that the analysis has a rule for.
//
// Concept: every opcode string maps to one Opcode; a string without a rule maps
// to kUnknown, which the analysis treats as a barrier, never as an error.
#ifndef MESHWRIGHT_COORDINATOR_IR_OPCODE_H_
#define MESHWRIGHT_COORDINATOR_IR_OPCODE_H_

#include <string_view>

namespace meshwright::ir {

enum class Opcode {
  kUnknown,
  kElementwise,  // every operation that maps equal indices to equal indices
  kBitcast,
  kBroadcast,
  kCall,
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
  kGather,
  kGetTupleElement,
  kIota,
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
  kSlice,
  kSort,
  kTopK,
  kTranspose,
  kTuple,
  kWhile,
};

Opcode OpcodeFromString(std::string_view name);

// Operations whose output index equals every operand's index, kConvert, kCopy
// and kSelect included.
bool IsElementwise(Opcode opcode);

// Operations that move elements without computing: what gradient matching
// looks through.
bool IsLayout(Opcode opcode);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_OPCODE_H_
