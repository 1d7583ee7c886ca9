#include "coordinator/ir/opcode.h"

#include <string>
#include <unordered_map>

namespace meshwright::ir {
namespace {

constexpr std::string_view kAll = "every dimension passes";
constexpr std::string_view kNoOperands = "it has no operands";
constexpr std::string_view kRandom =
    "its bits depend on the whole shape they are drawn for";
constexpr std::string_view kControlFlow =
    "what its computations do to a split is not followed";
constexpr std::string_view kTransfer =
    "it hands data to or from the host or another device";
constexpr std::string_view kAsync =
    "half of an asynchronous pair; export the module before XLA splits them";
constexpr std::string_view kDynamic =
    "it reads or sets the size of a dynamic dimension";
constexpr std::string_view kOpaque = "what it computes is not known";

const std::vector<OpRule>& Rules() {
  static const auto* const rules = new std::vector<OpRule>{
      {"abs", Opcode::kElementwise, kAll},
      {"acos", Opcode::kElementwise, kAll},
      {"acosh", Opcode::kElementwise, kAll},
      {"add", Opcode::kElementwise, kAll},
      {"add-dependency", Opcode::kUnknown, "it orders side effects", true},
      {"after-all", Opcode::kUnknown, "it orders side effects", true},
      {"all-gather", Opcode::kCollective, "all but the gathered dimension"},
      {"all-gather-done", Opcode::kUnknown, kAsync, true},
      {"all-gather-start", Opcode::kUnknown, kAsync, true},
      {"all-reduce", Opcode::kCollective, kAll},
      {"all-reduce-done", Opcode::kUnknown, kAsync, true},
      {"all-reduce-start", Opcode::kUnknown, kAsync, true},
      {"all-to-all", Opcode::kCollective, "all but the split dimension"},
      {"and", Opcode::kElementwise, kAll},
      {"asin", Opcode::kElementwise, kAll},
      {"asinh", Opcode::kElementwise, kAll},
      {"async-done", Opcode::kUnknown, kAsync, true},
      {"async-start", Opcode::kUnknown, kAsync, true},
      {"async-update", Opcode::kUnknown, kAsync, true},
      {"atan2", Opcode::kElementwise, kAll},
      {"atanh", Opcode::kElementwise, kAll},
      {"batch-norm-grad", Opcode::kUnknown,
       "its results have different dimensions", true},
      {"batch-norm-inference", Opcode::kBatchNormInference,
       "every dimension of the input; of the statistics, the feature one"},
      {"batch-norm-training", Opcode::kUnknown,
       "its results have different dimensions", true},
      {"bitcast", Opcode::kBitcast, "as reshape, in bytes"},
      {"bitcast-convert", Opcode::kBitcastConvert,
       "every dimension but the one that holds the parts of an element"},
      {"broadcast", Opcode::kBroadcast, "every dimension of the operand"},
      {"call", Opcode::kCall, kControlFlow, true},
      {"cbrt", Opcode::kElementwise, kAll},
      {"ceil", Opcode::kElementwise, kAll},
      {"cholesky", Opcode::kCholesky, "batch dimensions"},
      {"clamp", Opcode::kElementwise, kAll},
      {"collective-broadcast", Opcode::kCollective, kAll},
      {"collective-permute", Opcode::kCollective, kAll},
      {"collective-permute-done", Opcode::kUnknown, kAsync, true},
      {"collective-permute-start", Opcode::kUnknown, kAsync, true},
      {"compare", Opcode::kElementwise, kAll},
      {"complex", Opcode::kElementwise, kAll},
      {"concatenate", Opcode::kConcatenate, "all but the joined dimension"},
      {"conditional", Opcode::kConditional, kControlFlow, true},
      {"constant", Opcode::kConstant, kNoOperands, true},
      {"convert", Opcode::kConvert, kAll},
      {"convolution", Opcode::kConvolution,
       "batch, output features, spatial ones whose windows stay apart; with "
       "groups, the features of both sides together"},
      {"copy", Opcode::kCopy, kAll},
      {"copy-done", Opcode::kUnknown, kAsync, true},
      {"copy-start", Opcode::kUnknown, kAsync, true},
      {"cosh", Opcode::kElementwise, kAll},
      {"cosine", Opcode::kElementwise, kAll},
      {"count-leading-zeros", Opcode::kElementwise, kAll},
      {"custom-call", Opcode::kCustomCall, kOpaque, true},
      {"divide", Opcode::kElementwise, kAll},
      {"domain", Opcode::kUnknown, "it marks a boundary between domains", true},
      {"dot", Opcode::kDot, "batch and free dimensions"},
      {"dynamic-reshape", Opcode::kUnknown, kDynamic, true},
      {"dynamic-slice", Opcode::kDynamicSlice, "dimensions taken whole"},
      {"dynamic-update-slice", Opcode::kDynamicUpdateSlice,
       "dimensions updated whole"},
      {"erf", Opcode::kElementwise, kAll},
      {"exponential", Opcode::kElementwise, kAll},
      {"exponential-minus-one", Opcode::kElementwise, kAll},
      {"fft", Opcode::kFft, "dimensions that are not transformed"},
      {"floor", Opcode::kElementwise, kAll},
      {"fusion", Opcode::kUnknown,
       "what it fuses is not followed; export the module before XLA fuses",
       true},
      {"gather", Opcode::kGather,
       "offset dimensions taken whole, dimensions of the indices, batching "
       "dimensions of both"},
      {"get-dimension-size", Opcode::kUnknown, kDynamic, true},
      {"get-tuple-element", Opcode::kGetTupleElement, kAll},
      {"imag", Opcode::kElementwise, kAll},
      {"infeed", Opcode::kUnknown, kTransfer, true},
      {"iota", Opcode::kIota, kNoOperands, true},
      {"is-finite", Opcode::kElementwise, kAll},
      {"log", Opcode::kElementwise, kAll},
      {"log-plus-one", Opcode::kElementwise, kAll},
      {"logistic", Opcode::kElementwise, kAll},
      {"map", Opcode::kElementwise, kAll},
      {"maximum", Opcode::kElementwise, kAll},
      {"minimum", Opcode::kElementwise, kAll},
      {"multiply", Opcode::kElementwise, kAll},
      {"negate", Opcode::kElementwise, kAll},
      {"not", Opcode::kElementwise, kAll},
      {"opt-barrier", Opcode::kOptimizationBarrier, kAll},
      {"or", Opcode::kElementwise, kAll},
      {"outfeed", Opcode::kUnknown, kTransfer, true},
      {"pad", Opcode::kPad,
       "dimensions without padding, or padded alike around every element"},
      {"parameter", Opcode::kParameter, kNoOperands, true},
      {"partition-id", Opcode::kUnknown, kNoOperands, true},
      {"popcnt", Opcode::kElementwise, kAll},
      {"power", Opcode::kElementwise, kAll},
      {"ragged-all-to-all", Opcode::kUnknown, kTransfer, true},
      {"ragged-dot", Opcode::kUnknown,
       "its groups have sizes known at run time", true},
      {"real", Opcode::kElementwise, kAll},
      {"recv", Opcode::kUnknown, kTransfer, true},
      {"recv-done", Opcode::kUnknown, kTransfer, true},
      {"reduce", Opcode::kReduce, "dimensions that are kept"},
      {"reduce-precision", Opcode::kElementwise, kAll},
      {"reduce-scatter", Opcode::kCollective,
       "all but the scattered dimension"},
      {"reduce-window", Opcode::kReduceWindow,
       "dimensions whose windows stay apart"},
      {"remainder", Opcode::kElementwise, kAll},
      {"replica-id", Opcode::kUnknown, kNoOperands, true},
      {"reshape", Opcode::kReshape,
       "the outermost dimension of every group that is merged or split"},
      {"reverse", Opcode::kReverse, "dimensions that are not reversed"},
      {"rng", Opcode::kUnknown, kRandom, true},
      {"rng-bit-generator", Opcode::kRngBitGenerator, kRandom, true},
      {"rng-get-and-update-state", Opcode::kUnknown, kRandom, true},
      {"round-nearest-afz", Opcode::kElementwise, kAll},
      {"round-nearest-even", Opcode::kElementwise, kAll},
      {"rsqrt", Opcode::kElementwise, kAll},
      {"scaled-dot", Opcode::kUnknown, "its scales cover blocks of elements",
       true},
      {"scatter", Opcode::kScatter,
       "window dimensions updated whole, indexed ones of the input, batching "
       "dimensions of all"},
      {"select", Opcode::kSelect, kAll},
      {"select-and-scatter", Opcode::kSelectAndScatter,
       "dimensions whose windows stay apart"},
      {"send", Opcode::kUnknown, kTransfer, true},
      {"send-done", Opcode::kUnknown, kTransfer, true},
      {"set-dimension-size", Opcode::kUnknown, kDynamic, true},
      {"shift-left", Opcode::kElementwise, kAll},
      {"shift-right-arithmetic", Opcode::kElementwise, kAll},
      {"shift-right-logical", Opcode::kElementwise, kAll},
      {"sign", Opcode::kElementwise, kAll},
      {"sine", Opcode::kElementwise, kAll},
      {"sinh", Opcode::kElementwise, kAll},
      {"slice", Opcode::kSlice,
       "dimensions taken whole, or one element out of every run of `stride`"},
      {"sort", Opcode::kSort, "all but the sorted dimension"},
      {"sqrt", Opcode::kElementwise, kAll},
      {"stochastic-convert", Opcode::kElementwise, kAll},
      {"subtract", Opcode::kElementwise, kAll},
      {"tan", Opcode::kElementwise, kAll},
      {"tanh", Opcode::kElementwise, kAll},
      {"topk", Opcode::kTopK, "all but the last dimension"},
      {"transpose", Opcode::kTranspose, kAll},
      {"triangular-solve", Opcode::kTriangularSolve,
       "batch dimensions; of the right-hand sides, the one that counts them"},
      {"tuple", Opcode::kTuple, "every dimension, where all elements have it"},
      {"while", Opcode::kWhile, kControlFlow, true},
      {"xor", Opcode::kElementwise, kAll},
  };
  return *rules;
}

const std::unordered_map<std::string_view, const OpRule*>& Table() {
  static const auto* const table = [] {
    auto* map = new std::unordered_map<std::string_view, const OpRule*>;
    for (const OpRule& rule : Rules()) map->emplace(rule.name, &rule);
    return map;
  }();
  return *table;
}

}  // namespace

const std::vector<OpRule>& OpRules() { return Rules(); }

Opcode OpcodeFromString(std::string_view name) {
  const auto found = Table().find(name);
  return found == Table().end() ? Opcode::kUnknown : found->second->opcode;
}

std::string_view RuleOf(std::string_view name) {
  const auto found = Table().find(name);
  return found == Table().end() ? kOpaque : found->second->rule;
}

bool IsElementwise(Opcode opcode) {
  switch (opcode) {
    case Opcode::kElementwise:
    case Opcode::kCarry:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kLoopResult:
    case Opcode::kSelect:
    case Opcode::kOptimizationBarrier:
      return true;
    default:
      return false;
  }
}

bool IsLoopBoundary(Opcode opcode) {
  return opcode == Opcode::kCarry || opcode == Opcode::kLoopResult;
}

bool IsLayout(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBitcast:
    case Opcode::kCarry:
    case Opcode::kLoopResult:
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
