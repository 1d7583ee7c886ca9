#include "coordinator/ir/opcode.h"

#include <string>
#include <unordered_map>

namespace meshwright::ir {
namespace {

const std::unordered_map<std::string_view, Opcode>& Table() {
  static const auto* const table = [] {
    auto* map = new std::unordered_map<std::string_view, Opcode>{
        {"bitcast", Opcode::kBitcast},
        {"broadcast", Opcode::kBroadcast},
        {"call", Opcode::kCall},
        {"concatenate", Opcode::kConcatenate},
        {"conditional", Opcode::kConditional},
        {"constant", Opcode::kConstant},
        {"convert", Opcode::kConvert},
        {"convolution", Opcode::kConvolution},
        {"copy", Opcode::kCopy},
        {"custom-call", Opcode::kCustomCall},
        {"dot", Opcode::kDot},
        {"dynamic-slice", Opcode::kDynamicSlice},
        {"dynamic-update-slice", Opcode::kDynamicUpdateSlice},
        {"gather", Opcode::kGather},
        {"get-tuple-element", Opcode::kGetTupleElement},
        {"iota", Opcode::kIota},
        {"opt-barrier", Opcode::kOptimizationBarrier},
        {"pad", Opcode::kPad},
        {"parameter", Opcode::kParameter},
        {"reduce", Opcode::kReduce},
        {"reduce-window", Opcode::kReduceWindow},
        {"reshape", Opcode::kReshape},
        {"reverse", Opcode::kReverse},
        {"rng-bit-generator", Opcode::kRngBitGenerator},
        {"scatter", Opcode::kScatter},
        {"select", Opcode::kSelect},
        {"slice", Opcode::kSlice},
        {"sort", Opcode::kSort},
        {"topk", Opcode::kTopK},
        {"transpose", Opcode::kTranspose},
        {"tuple", Opcode::kTuple},
        {"while", Opcode::kWhile},
    };
    for (std::string_view name : {"abs",
                                  "add",
                                  "and",
                                  "atan2",
                                  "cbrt",
                                  "ceil",
                                  "clamp",
                                  "compare",
                                  "complex",
                                  "cosine",
                                  "count-leading-zeros",
                                  "divide",
                                  "erf",
                                  "exponential",
                                  "exponential-minus-one",
                                  "floor",
                                  "imag",
                                  "is-finite",
                                  "log",
                                  "log-plus-one",
                                  "logistic",
                                  "maximum",
                                  "minimum",
                                  "multiply",
                                  "negate",
                                  "not",
                                  "or",
                                  "popcnt",
                                  "power",
                                  "real",
                                  "reduce-precision",
                                  "remainder",
                                  "round-nearest-afz",
                                  "round-nearest-even",
                                  "rsqrt",
                                  "shift-left",
                                  "shift-right-arithmetic",
                                  "shift-right-logical",
                                  "sign",
                                  "sine",
                                  "sqrt",
                                  "stochastic-convert",
                                  "subtract",
                                  "tan",
                                  "tanh",
                                  "xor"}) {
      map->emplace(name, Opcode::kElementwise);
    }
    return map;
  }();
  return *table;
}

}  // namespace

Opcode OpcodeFromString(std::string_view name) {
  const auto found = Table().find(name);
  return found == Table().end() ? Opcode::kUnknown : found->second;
}

bool IsElementwise(Opcode opcode) {
  switch (opcode) {
    case Opcode::kElementwise:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kSelect:
    case Opcode::kOptimizationBarrier:
      return true;
    default:
      return false;
  }
}

bool IsLayout(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBitcast:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kOptimizationBarrier:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kTranspose:
      return true;
    default:
      return false;
  }
}

}  // namespace meshwright::ir
