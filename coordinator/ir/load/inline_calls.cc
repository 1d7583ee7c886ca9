#include "coordinator/ir/load/inline_calls.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/ir/checks/verify.h"
#include "coordinator/ir/load/outside_calls.h"
#include "coordinator/ir/loops.h"

namespace meshwright::ir {
namespace {

// Calls can nest, so that a small file may stand for a huge program: what comes
// out, with a copy of what is kept (a reducer) for each of its callers, may
// weigh this many times the file, or this much where that is little.
constexpr int64_t kMaxGrowth = 16;
constexpr int64_t kFreeWeight = 250'000;
constexpr int kMaxCallDepth = 64;
constexpr int64_t kMaxWeight = int64_t{1} << 40;

// The message of an instruction made here.
const hlo::HloInstructionProto* Made(const char* opcode) {
  auto* const message = new hlo::HloInstructionProto();
  message->set_opcode(opcode);
  message->set_name(opcode);
  return message;
}

class Flattener {
 public:
  Flattener(const hlo::HloModuleProto& proto, const ResolvedModule& resolved)
      : resolved_(resolved) {
    module_.name = proto.name();
    int64_t weight = 0;
    for (const hlo::HloComputationProto& computation : proto.computations()) {
      for (const hlo::HloInstructionProto& it : computation.instructions()) {
        weight += Weight(it);
      }
    }
    weight_left_ = kFreeWeight + kMaxGrowth * weight;
  }

  absl::StatusOr<Module> Run() {
    const ResolvedComputation& entry = resolved_.at(resolved_.entry);
    module_.instructions.reserve(entry.message->instructions_size());
    ASSIGN_OR_RETURN(module_.root, Inline(entry, nullptr, 0));
    for (Loop& loop : module_.loops) {
      if (loop.counter.has_value()) continue;
      CountTrips(module_, *resolved_.at(loop.condition).message, loop);
    }
    for (const ValueId id : module_.ids()) {
      if (module_.at(id).opcode != Opcode::kParameter) continue;
      const size_t number = module_.at(id).attributes().parameter_number();
      module_.parameters.resize(
          std::max(module_.parameters.size(), number + 1));
      module_.parameters[number] = id;
    }
    return std::move(module_);
  }

 private:
  static int64_t Weight(const hlo::HloInstructionProto& it) {
    return 1 + it.operand_ids_size() + it.shape().tuple_shapes_size();
  }

  // Visits are charged, not instructions made: calls of calls may double at
  // every level and yet make none.
  absl::Status Charge(int64_t weight, const hlo::HloInstructionProto& it) {
    weight_left_ -= weight;
    if (weight_left_ >= 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("inlining the calls makes the module more than ",
                     kMaxGrowth, " times larger, at instruction ", it.name()));
  }

  // `arguments` is null for the entry. Returns the value of the root.
  absl::StatusOr<ValueId> Inline(const ResolvedComputation& resolved,
                                 const std::vector<ValueId>* arguments,
                                 int depth) {
    const hlo::HloComputationProto& computation = *resolved.message;
    if (depth > kMaxCallDepth) {
      return absl::InvalidArgumentError(absl::StrCat("calls nest deeper than ",
                                                     kMaxCallDepth, " at ",
                                                     computation.name()));
    }
    std::vector<ValueId> values;  // by position
    values.reserve(computation.instructions_size());
    auto operand = resolved.operands.begin();
    for (const hlo::HloInstructionProto& source : computation.instructions()) {
      RETURN_IF_ERROR(Charge(Weight(source), source));
      std::vector<ValueId> operands;
      operands.reserve(source.operand_ids_size());
      for (int i = 0; i < source.operand_ids_size(); ++i) {
        operands.push_back(values[*operand++]);
      }
      const Opcode opcode = ParseOpcode(source.opcode());
      if (opcode == Opcode::kParameter && arguments != nullptr) {
        const int64_t number = source.parameter_number();
        if (number >= static_cast<int64_t>(arguments->size())) {
          return absl::InvalidArgumentError(absl::StrCat(
              "a call of ", computation.name(), " has too few operands"));
        }
        const ValueId argument = (*arguments)[number];
        ASSIGN_OR_RETURN(const Shape shape, ShapeFromProto(source.shape()));
        if (!(module_.at(argument).shape == shape)) {
          return absl::InvalidArgumentError(absl::StrCat(
              "a call of ", computation.name(), " passes ",
              ToString(module_.at(argument).shape), " for parameter ", number,
              " of shape ", ToString(shape)));
        }
        values.push_back(argument);
        continue;
      }
      if (opcode == Opcode::kCall &&
          source.called_computation_ids_size() == 1) {
        ASSIGN_OR_RETURN(const ValueId result,
                         Inline(resolved_.at(source.called_computation_ids(0)),
                                &operands, depth + 1));
        values.push_back(result);
        continue;
      }
      if (opcode == Opcode::kWhile && CanTakeIn(source, operands)) {
        ASSIGN_OR_RETURN(
            const std::optional<ValueId> result,
            InlineLoop(source, module_.at(operands[0]).operands, depth));
        if (result.has_value()) {
          values.push_back(*result);
          continue;
        }
      }
      if (opcode == Opcode::kOptimizationBarrier && operands.size() == 1 &&
          module_.at(operands[0]).opcode == Opcode::kTuple) {
        values.push_back(AddBarriers(source, module_.at(operands[0]).operands));
        continue;
      }
      if (opcode == Opcode::kCustomCall && operands.size() == 1 &&
          IsShardingConstraint(source, module_.at(operands[0]).shape)) {
        module_.constraints.push_back(source.name());
        values.push_back(operands[0]);
        continue;
      }
      ASSIGN_OR_RETURN(const ValueId result,
                       Append(source, opcode, std::move(operands)));
      values.push_back(result);
    }
    return values[resolved.root];
  }

  bool CanTakeIn(const hlo::HloInstructionProto& source,
                 const std::vector<ValueId>& operands) const {
    return operands.size() == 1 && source.called_computation_ids_size() == 2 &&
           module_.at(operands[0]).opcode == Opcode::kTuple;
  }

  // One trip of the body between carries and results. Returns a tuple of the
  // results; nothing has happened if there is none because the body builds its
  // tuple in a way that cannot be looked into.
  absl::StatusOr<std::optional<ValueId>> InlineLoop(
      const hlo::HloInstructionProto& source, std::vector<ValueId> initial,
      int depth) {
    const ResolvedComputation& body =
        resolved_.at(source.called_computation_ids(0));
    RETURN_IF_ERROR(Charge(4 * static_cast<int64_t>(initial.size()), source));
    const int64_t condition = source.called_computation_ids(1);
    const size_t instructions = module_.instructions.size();
    const size_t loops = module_.loops.size();
    const size_t constraints = module_.constraints.size();
    const LoopId loop(loops);
    module_.loops.emplace_back().parent = loop_;
    std::vector<ValueId> carries;
    for (size_t k = 0; k < initial.size(); ++k) {
      carries.push_back(AddBoundary(Opcode::kCarry, loop,
                                    {loop, static_cast<int>(k)}, initial[k]));
    }
    const std::optional<LoopId> outside = std::exchange(loop_, loop);
    const std::vector<ValueId> argument = {AddTuple(carries)};
    auto inlined = Inline(body, &argument, depth + 1);
    loop_ = outside;
    if (!inlined.ok()) return inlined.status();
    // Not a reference: the results below move the instructions.
    const Instruction root = module_.at(*inlined);
    if (root.opcode != Opcode::kTuple ||
        !(root.shape == module_.at(argument[0]).shape)) {
      module_.instructions.resize(instructions);
      module_.loops.resize(loops);
      module_.constraints.resize(constraints);
      return std::nullopt;
    }
    // Looked through, it is not there to be verified in the end.
    RETURN_IF_ERROR(VerifyShape(module_, *inlined));
    std::vector<ValueId> results;
    for (size_t k = 0; k < initial.size(); ++k) {
      results.push_back(AddBoundary(Opcode::kLoopResult, outside,
                                    {loop, static_cast<int>(k)},
                                    root.operands[k]));
    }
    Keep(condition);
    RETURN_IF_ERROR(Charge(KeptWeight(condition), source));
    Loop& it = module_.loops[loop];
    it.carries.assign(carries.begin(), carries.end());
    it.results.assign(results.begin(), results.end());
    it.condition = condition;
    CountTrips(module_, *resolved_.at(condition).message, it);
    return AddTuple(results);
  }

  // One barrier per element, so that what one element waits for is not taken
  // for what the others depend on.
  ValueId AddBarriers(const hlo::HloInstructionProto& source,
                      std::vector<ValueId> elements) {
    for (ValueId& element : elements) {
      Instruction barrier;
      barrier.opcode = Opcode::kOptimizationBarrier;
      barrier.loop = loop_;
      barrier.shape = module_.at(element).shape;
      barrier.operands = {element};
      barrier.source = &source;
      element = Push(std::move(barrier));
    }
    return AddTuple(elements);
  }

  ValueId Push(Instruction instruction) {
    module_.instructions.push_back(std::move(instruction));
    return ValueId(module_.instructions.size() - 1);
  }

  ValueId AddBoundary(Opcode opcode, std::optional<LoopId> inside,
                      LoopBoundary boundary, ValueId operand) {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.loop = inside;
    instruction.boundary = boundary;
    instruction.shape = module_.at(operand).shape;
    instruction.operands = {operand};
    static const auto* const copy = Made("copy");
    instruction.source = copy;
    return Push(std::move(instruction));
  }

  // Looked through wherever it is read, so that none is left in the end.
  ValueId AddTuple(const std::vector<ValueId>& elements) {
    Instruction instruction;
    instruction.opcode = Opcode::kTuple;
    instruction.loop = loop_;
    instruction.shape.element_type = hlo::TUPLE;
    for (ValueId id : elements) {
      instruction.shape.elements.push_back(module_.at(id).shape);
    }
    instruction.operands = elements;
    static const auto* const tuple = Made("tuple");
    instruction.source = tuple;
    return Push(std::move(instruction));
  }

  absl::StatusOr<ValueId> Append(const hlo::HloInstructionProto& source,
                                 Opcode opcode, std::vector<ValueId> operands) {
    // A tuple that an inlined call returns is looked through at once.
    if (opcode == Opcode::kGetTupleElement && operands.size() == 1 &&
        module_.at(operands[0]).opcode == Opcode::kTuple) {
      const Instruction& tuple = module_.at(operands[0]);
      const int64_t index = source.tuple_index();
      if (index < 0 || index >= static_cast<int64_t>(tuple.operands.size())) {
        return absl::InvalidArgumentError(absl::StrCat(
            "instruction ", source.name(), " takes an element that ",
            tuple.name(), " does not have"));
      }
      return tuple.operands[index];
    }
    Instruction instruction;
    instruction.opcode = opcode;
    auto shape = ShapeFromProto(source.shape());
    if (!shape.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("instruction ", source.name(), ": ",
                       std::string(shape.status().message())));
    }
    instruction.shape = *std::move(shape);
    instruction.operands = std::move(operands);
    instruction.source = &source;
    instruction.loop = loop_;
    for (int64_t callee : source.called_computation_ids()) {
      Keep(callee);
      RETURN_IF_ERROR(Charge(KeptWeight(callee), source));
    }
    return Push(std::move(instruction));
  }

  // With all that it calls; each of them once for every caller.
  int64_t KeptWeight(int64_t id) {
    const auto [known, added] = kept_weight_.try_emplace(id, 0);
    if (!added) return known->second;
    int64_t weight = 0;
    for (const auto& it : resolved_.at(id).message->instructions()) {
      weight += Weight(it);
      for (int64_t callee : it.called_computation_ids()) {
        weight += KeptWeight(callee);
      }
      weight = std::min(weight, kMaxWeight);
    }
    return kept_weight_[id] = weight;
  }

  void Keep(int64_t id) {
    const hlo::HloComputationProto& computation = *resolved_.at(id).message;
    if (!module_.computations.emplace(id, &computation).second) return;
    for (const hlo::HloInstructionProto& it : computation.instructions()) {
      for (int64_t callee : it.called_computation_ids()) Keep(callee);
    }
  }

  const ResolvedModule& resolved_;
  int64_t weight_left_ = 0;
  std::unordered_map<int64_t, int64_t> kept_weight_;  // by computation
  std::optional<LoopId> loop_;  // whose body is being taken in
  Module module_;
};

}  // namespace

absl::StatusOr<Module> Flatten(const hlo::HloModuleProto& proto,
                               const ResolvedModule& resolved) {
  return Flattener(proto, resolved).Run();
}

}  // namespace meshwright::ir
