#include "coordinator/ir/opcode.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "absl/strings/str_split.h"

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

// Operations that share a rule, their names between spaces.
struct AlikeRules {
  OpRule rule;  // without a name
  std::string_view names;
};

constexpr AlikeRules kAlike[] = {
    {{"", Opcode::kElementwise, kAll},
     "abs acos acosh add and asin asinh atan2 atanh cbrt ceil clamp compare "
     "complex cosh cosine count-leading-zeros divide erf exponential "
     "exponential-minus-one floor imag is-finite log log-plus-one logistic "
     "map maximum minimum multiply negate not or popcnt power real "
     "reduce-precision remainder round-nearest-afz round-nearest-even rsqrt "
     "shift-left shift-right-arithmetic shift-right-logical sign sine sinh "
     "sqrt stochastic-convert subtract tan tanh xor"},
    {{"", Opcode::kUnknown, kAsync, true},
     "all-gather-done all-gather-start all-reduce-done all-reduce-start "
     "async-done async-start async-update collective-permute-done "
     "collective-permute-start copy-done copy-start"},
    {{"", Opcode::kCollective, kAll},
     "all-reduce collective-broadcast collective-permute"},
    {{"", Opcode::kUnknown, kDynamic, true},
     "dynamic-reshape get-dimension-size set-dimension-size"},
    {{"", Opcode::kUnknown, kTransfer, true},
     "infeed outfeed ragged-all-to-all recv recv-done send send-done"},
};

// Of an operation that shares its rule with few.
const std::vector<OpRule>& Single() {
  static const auto* const rules = new std::vector<OpRule>{
      {"add-dependency", Opcode::kUnknown, "it orders side effects", true},
      {"after-all", Opcode::kUnknown, "it orders side effects", true},
      {"all-gather", Opcode::kCollective, "all but the gathered dimension"},
      {"all-to-all", Opcode::kCollective, "all but the split dimension"},
      {"batch-norm-grad", Opcode::kUnknown,
       "its results have different dimensions", true},
      {"batch-norm-training", Opcode::kUnknown,
       "its results have different dimensions", true},
      {"batch-norm-inference", Opcode::kBatchNormInference,
       "every dimension of the input; of the statistics, the feature one"},
      {"bitcast", Opcode::kBitcast, "as reshape, in bytes"},
      {"bitcast-convert", Opcode::kBitcastConvert,
       "every dimension but the one that holds the parts of an element"},
      {"broadcast", Opcode::kBroadcast, "every dimension of the operand"},
      {"call", Opcode::kCall, kControlFlow, true},
      {"cholesky", Opcode::kCholesky, "batch dimensions"},
      {"concatenate", Opcode::kConcatenate, "all but the joined dimension"},
      {"conditional", Opcode::kConditional, kControlFlow, true},
      {"constant", Opcode::kConstant, kNoOperands, true},
      {"convert", Opcode::kConvert, kAll},
      {"convolution", Opcode::kConvolution,
       "batch, output features, spatial ones whose windows stay apart; with "
       "groups, the features of both sides together"},
      {"copy", Opcode::kCopy, kAll},
      {"custom-call", Opcode::kCustomCall, kOpaque, true},
      {"domain", Opcode::kUnknown, "it marks a boundary between domains", true},
      {"dot", Opcode::kDot, "batch and free dimensions"},
      {"dynamic-slice", Opcode::kDynamicSlice, "dimensions taken whole"},
      {"dynamic-update-slice", Opcode::kDynamicUpdateSlice,
       "dimensions updated whole"},
      {"fft", Opcode::kFft, "dimensions that are not transformed"},
      {"fusion", Opcode::kUnknown,
       "what it fuses is not followed; export the module before XLA fuses",
       true},
      {"gather", Opcode::kGather,
       "offset dimensions taken whole, dimensions of the indices, batching "
       "dimensions of both"},
      {"get-tuple-element", Opcode::kGetTupleElement, kAll},
      {"iota", Opcode::kIota, kNoOperands, true},
      {"opt-barrier", Opcode::kOptimizationBarrier, kAll},
      {"pad", Opcode::kPad,
       "dimensions without padding, or padded alike around every element"},
      {"parameter", Opcode::kParameter, kNoOperands, true},
      {"partition-id", Opcode::kUnknown, kNoOperands, true},
      {"replica-id", Opcode::kUnknown, kNoOperands, true},
      {"ragged-dot", Opcode::kUnknown,
       "its groups have sizes known at run time", true},
      {"reduce", Opcode::kReduce, "dimensions that are kept"},
      {"reduce-scatter", Opcode::kCollective,
       "all but the scattered dimension"},
      {"reduce-window", Opcode::kReduceWindow,
       "dimensions whose windows stay apart"},
      {"reshape", Opcode::kReshape,
       "the outermost dimension of every group that is merged or split"},
      {"reverse", Opcode::kReverse, "dimensions that are not reversed"},
      {"rng", Opcode::kUnknown, kRandom, true},
      {"rng-get-and-update-state", Opcode::kUnknown, kRandom, true},
      {"rng-bit-generator", Opcode::kRngBitGenerator, kRandom, true},
      {"scaled-dot", Opcode::kUnknown, "its scales cover blocks of elements",
       true},
      {"scatter", Opcode::kScatter,
       "window dimensions updated whole, indexed ones of the input, batching "
       "dimensions of all"},
      {"select", Opcode::kSelect, kAll},
      {"select-and-scatter", Opcode::kSelectAndScatter,
       "dimensions whose windows stay apart"},
      {"slice", Opcode::kSlice,
       "dimensions taken whole, or one element out of every run of `stride`"},
      {"sort", Opcode::kSort, "all but the sorted dimension"},
      {"topk", Opcode::kTopK, "all but the last dimension"},
      {"transpose", Opcode::kTranspose, kAll},
      {"triangular-solve", Opcode::kTriangularSolve,
       "batch dimensions; of the right-hand sides, the one that counts them"},
      {"tuple", Opcode::kTuple, "every dimension, where all elements have it"},
      {"while", Opcode::kWhile, kControlFlow, true},
  };
  return *rules;
}

const std::unordered_map<std::string_view, const OpRule*>& Table() {
  static const auto* const table = [] {
    auto* map = new std::unordered_map<std::string_view, const OpRule*>;
    for (const OpRule& rule : OpRules()) map->emplace(rule.name, &rule);
    return map;
  }();
  return *table;
}

}  // namespace

const std::vector<OpRule>& OpRules() {
  static const auto* const rules = [] {
    auto* const all = new std::vector<OpRule>(Single());
    for (const AlikeRules& alike : kAlike) {
      for (const absl::string_view name : absl::StrSplit(
               absl::string_view(alike.names.data(), alike.names.size()),
               ' ')) {
        all->push_back(alike.rule);
        all->back().name = {name.data(), name.size()};
      }
    }
    std::sort(all->begin(), all->end(),
              [](const OpRule& a, const OpRule& b) { return a.name < b.name; });
    return all;
  }();
  return *rules;
}

Opcode ParseOpcode(std::string_view name) {
  const auto found = Table().find(name);
  return found == Table().end() ? Opcode::kUnknown : found->second->opcode;
}

std::string_view FindRule(std::string_view name) {
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
