#include "coordinator/operators/operator_groups.h"

#include <algorithm>

#include "coordinator/ir/links/contraction_dims.h"

namespace meshwright::operators {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

// All operators together take along at most this many operations per operation
// of the step, and as many operands; what is left over is an input.
constexpr int64_t kMaxTaken = 4;
constexpr int64_t kMaxLooks = 64;

class Grouper {
 public:
  explicit Grouper(const segmenter::Analysis& analysis)
      : analysis_(analysis), module_(analysis.module) {}

  OperatorGroups Run() {
    const int count = module_.size();
    found_.operator_of.resize(count);
    from_parameter_.assign(count, 0);
    for (const ValueId id : module_.ids()) Place(id);
    TakeAlong();
    return std::move(found_);
  }

 private:
  void Place(ValueId id) {
    const ir::Instruction& it = module_.at(id);
    if (it.opcode == Opcode::kParameter) {
      from_parameter_[id] =
          analysis_.passes.roles[it.attributes().parameter_number()] ==
          segmenter::ArgumentRole::kParameter;
      return;
    }
    if (!analysis_.passes.forward[id] || analysis_.passes.recomputable[id] ||
        it.opcode == Opcode::kConstant) {
      return;
    }
    if (!IsTrivial(module_, id)) {
      found_.operator_of[id] = static_cast<int>(found_.groups.size());
      found_.groups.push_back({id, {id}});
      return;
    }
    std::optional<int> latest;
    for (ValueId operand : it.operands) {
      latest = std::max(latest, found_.operator_of[operand]);
      from_parameter_[id] |= from_parameter_[operand];
    }
    found_.operator_of[id] = latest;
    if (latest.has_value()) {
      found_.groups[*latest].members.push_back(id);
    }
  }

  void TakeAlong() {
    int64_t left = kMaxTaken * module_.size();
    int64_t looks_left = kMaxLooks * module_.size();
    std::vector<std::optional<int>> taken_by(module_.size());
    for (int g = 0; g < static_cast<int>(found_.groups.size()); ++g) {
      std::vector<ValueId> stack = found_.groups[g].members;
      while (!stack.empty() && left > 0) {
        const ValueId id = stack.back();
        stack.pop_back();
        for (ValueId operand : module_.at(id).operands) {
          if (module_.at(operand).opcode == Opcode::kParameter ||
              found_.operator_of[operand].has_value() ||
              !from_parameter_[operand] || taken_by[operand] == g) {
            continue;
          }
          looks_left -=
              static_cast<int64_t>(module_.at(operand).operands.size());
          if (looks_left < 0) {
            left = 0;
            break;
          }
          taken_by[operand] = g;
          found_.groups[g].members.push_back(operand);
          stack.push_back(operand);
          --left;
        }
      }
      std::sort(found_.groups[g].members.begin(),
                found_.groups[g].members.end());
    }
  }

  const segmenter::Analysis& analysis_;
  const Module& module_;
  OperatorGroups found_;
  std::vector<char> from_parameter_;  // by ValueId; through trivial ones
};

}  // namespace

bool IsTrivial(const Module& module, ValueId id) {
  const Opcode opcode = module.at(id).opcode;
  if (ir::IsElementwise(opcode) || ir::IsLayout(opcode)) return true;
  switch (opcode) {
    case Opcode::kBatchNormInference:
    case Opcode::kBitcastConvert:
    case Opcode::kBroadcast:
    case Opcode::kCollective:
    case Opcode::kConcatenate:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGetTupleElement:
    case Opcode::kIota:
    case Opcode::kPad:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kSlice:
    case Opcode::kTuple:
      return true;
    case Opcode::kConvolution:
    case Opcode::kDot:
      return !ir::IsContraction(module, id);
    default:
      return false;
  }
}

OperatorGroups FindOperators(const segmenter::Analysis& analysis) {
  return Grouper(analysis).Run();
}

}  // namespace meshwright::operators
