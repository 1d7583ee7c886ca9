#include "coordinator/ir/inline_calls.h"

#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::ir {
namespace {

// Calls can nest, so that a small file may stand for a huge program.
constexpr int64_t kMaxInstructions = 4'000'000;
constexpr int kMaxCallDepth = 64;

class Flattener {
 public:
  explicit Flattener(const hlo::HloModuleProto& proto) : proto_(proto) {
    for (const hlo::HloComputationProto& computation : proto.computations()) {
      by_id_[computation.id()] = &computation;
    }
  }

  absl::StatusOr<Module> Run() {
    module_.name = proto_.name();
    const hlo::HloComputationProto& entry =
        *by_id_[proto_.entry_computation_id()];
    ASSIGN_OR_RETURN(module_.root, Inline(entry, nullptr, 0));
    int64_t parameters = 0;
    for (const Instruction& it : module_.instructions) {
      parameters += it.opcode == Opcode::kParameter;
    }
    module_.parameters.resize(parameters);
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (module_.at(id).opcode == Opcode::kParameter) {
        module_.parameters[module_.at(id).attributes().parameter_number()] = id;
      }
    }
    return std::move(module_);
  }

 private:
  // `arguments` is null for the entry. Returns the value of the root.
  absl::StatusOr<ValueId> Inline(const hlo::HloComputationProto& computation,
                                 const std::vector<ValueId>* arguments,
                                 int depth) {
    if (depth > kMaxCallDepth) {
      return absl::InvalidArgumentError(absl::StrCat("calls nest deeper than ",
                                                     kMaxCallDepth, " at ",
                                                     computation.name()));
    }
    std::unordered_map<int64_t, ValueId> values;
    values.reserve(computation.instructions_size());
    for (const hlo::HloInstructionProto& source : computation.instructions()) {
      // Visits are counted, not instructions made: calls of calls may double
      // at every level and yet make none.
      if (++visited_ > kMaxInstructions) {
        return absl::InvalidArgumentError(
            absl::StrCat("inlining the calls gives more than ",
                         kMaxInstructions, " instructions"));
      }
      std::vector<ValueId> operands;
      operands.reserve(source.operand_ids_size());
      for (int64_t operand : source.operand_ids()) {
        operands.push_back(values.at(operand));
      }
      const Opcode opcode = OpcodeFromString(source.opcode());
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
        values[source.id()] = argument;
        continue;
      }
      if (opcode == Opcode::kCall &&
          source.called_computation_ids_size() == 1) {
        ASSIGN_OR_RETURN(values[source.id()],
                         Inline(*by_id_.at(source.called_computation_ids(0)),
                                &operands, depth + 1));
        continue;
      }
      ASSIGN_OR_RETURN(values[source.id()],
                       Append(source, opcode, std::move(operands)));
    }
    return values.at(computation.root_id());
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
    for (int64_t callee : source.called_computation_ids()) Keep(callee);
    module_.instructions.push_back(std::move(instruction));
    return static_cast<ValueId>(module_.instructions.size() - 1);
  }

  void Keep(int64_t id) {
    const hlo::HloComputationProto& computation = *by_id_.at(id);
    if (!module_.computations.emplace(id, &computation).second) return;
    for (const hlo::HloInstructionProto& it : computation.instructions()) {
      for (int64_t callee : it.called_computation_ids()) Keep(callee);
    }
  }

  const hlo::HloModuleProto& proto_;
  int64_t visited_ = 0;
  std::unordered_map<int64_t, const hlo::HloComputationProto*> by_id_;
  Module module_;
};

}  // namespace

absl::StatusOr<Module> Flatten(const hlo::HloModuleProto& proto) {
  return Flattener(proto).Run();
}

}  // namespace meshwright::ir
