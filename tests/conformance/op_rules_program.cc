#include "tests/conformance/op_rules_program.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::conformance {
namespace {

using worker::pjrt::Buffer;

ir::Shape ScalarShape(hlo::PrimitiveType type) { return ArrayShape(type, {}); }

void SetResult(hlo::HloComputationProto& computation, int64_t root) {
  computation.set_root_id(root);
  for (const auto& it : computation.instructions()) {
    if (it.id() == root) {
      *computation.mutable_program_shape()->mutable_result() = it.shape();
    }
  }
}

}  // namespace

Program::Program(int replicas) : replicas_(replicas) {
  module_.set_name("cases");
  entry_.set_name("entry");
}

int64_t Program::Append(hlo::HloComputationProto& computation,
                        hlo::HloInstructionProto it, const ir::Shape& shape,
                        const std::vector<int64_t>& operands) {
  it.set_id(next_id_++);
  it.set_name(absl::StrCat("v", it.id()));
  *it.mutable_shape() = ir::ShapeToProto(shape);
  for (const int64_t operand : operands) it.add_operand_ids(operand);
  *computation.add_instructions() = it;
  return it.id();
}

int64_t Program::Append(hlo::HloComputationProto& computation,
                        const std::string& opcode, const ir::Shape& shape,
                        const std::vector<int64_t>& operands) {
  hlo::HloInstructionProto it;
  it.set_opcode(opcode);
  return Append(computation, std::move(it), shape, operands);
}

int64_t Program::Parameter(hlo::HloComputationProto& computation,
                           const ir::Shape& shape) {
  auto& program = *computation.mutable_program_shape();
  hlo::HloInstructionProto it;
  it.set_opcode("parameter");
  it.set_parameter_number(program.parameters_size());
  *program.add_parameters() = ir::ShapeToProto(shape);
  program.add_parameter_names(absl::StrCat("p", it.parameter_number()));
  return Append(computation, std::move(it), shape, {});
}

int Program::AddInput(Replicated arrays) {
  input_ids_.push_back(
      Parameter(entry_, ArrayShape(arrays[0].type, arrays[0].dimensions)));
  inputs_.push_back(std::move(arrays));
  return static_cast<int>(inputs_.size()) - 1;
}

int64_t Program::CalleeRoot(hlo::HloComputationProto& computation,
                            const Callee& callee,
                            const std::vector<int64_t>& p) {
  const ir::Shape scalar = ScalarShape(callee.parameters[0]);
  const auto binary = [&](const std::string& opcode, int a, int b) {
    return Append(computation, opcode, ScalarShape(callee.parameters[a]),
                  {p[a], p[b]});
  };
  if (callee.kind == "square") return binary("multiply", 0, 0);
  if (callee.kind == "max-and-sum") {
    const int64_t largest = binary("maximum", 0, 2);
    const int64_t sum = binary("add", 1, 3);
    return Append(computation, "tuple",
                  TupleShape({scalar, ScalarShape(callee.parameters[1])}),
                  {largest, sum});
  }
  const bool less = callee.kind == "less";
  if (less || callee.kind == "greater" || callee.kind == "at-least") {
    hlo::HloInstructionProto compare;
    compare.set_opcode("compare");
    compare.set_comparison_direction(less                       ? "LT"
                                     : callee.kind == "greater" ? "GT"
                                                                : "GE");
    return Append(computation, std::move(compare), ScalarShape(hlo::PRED),
                  {p[0], p[1]});
  }
  return binary(callee.kind, 0, 1);
}

int64_t Program::CalleeId(const Callee& callee) {
  std::string key = callee.kind;
  for (const hlo::PrimitiveType type : callee.parameters) {
    absl::StrAppend(&key, ".", hlo::PrimitiveType_Name(type));
  }
  const auto found = callees_.find(key);
  if (found != callees_.end()) return found->second;
  hlo::HloComputationProto computation;
  const int64_t id = static_cast<int64_t>(callees_.size()) + 2;
  computation.set_id(id);
  computation.set_name(absl::StrCat("c", id));
  std::vector<int64_t> parameters;
  for (const hlo::PrimitiveType type : callee.parameters) {
    parameters.push_back(Parameter(computation, ScalarShape(type)));
    if (callee.kind == "square") break;
  }
  SetResult(computation, CalleeRoot(computation, callee, parameters));
  *module_.add_computations() = std::move(computation);
  callees_[key] = id;
  return id;
}

int Program::AddOperation(const OpCase& one,
                          const std::vector<std::vector<int>>& operands) {
  std::vector<int64_t> ids;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::vector<int64_t> leaves;
    for (const int input : operands[i]) leaves.push_back(input_ids_[input]);
    if (one.operands[i].shape.is_tuple()) {
      leaves = {Append(entry_, "tuple", one.operands[i].shape, leaves)};
    }
    ids.push_back(leaves[0]);
  }
  hlo::HloInstructionProto it = one.op;
  if (!one.equivalent.empty()) it.set_opcode(one.equivalent);
  for (const Callee& callee : one.callees) {
    it.add_called_computation_ids(CalleeId(callee));
  }
  const int64_t id = Append(entry_, std::move(it), one.result, ids);
  const int first = output_count();
  if (!one.result.is_tuple()) {
    outputs_.push_back(id);
    output_shapes_.push_back(one.result);
    return first;
  }
  for (size_t i = 0; i < one.result.elements.size(); ++i) {
    hlo::HloInstructionProto element;
    element.set_opcode("get-tuple-element");
    element.set_tuple_index(static_cast<int64_t>(i));
    outputs_.push_back(
        Append(entry_, std::move(element), one.result.elements[i], {id}));
    output_shapes_.push_back(one.result.elements[i]);
  }
  return first;
}

hlo::HloModuleProto Program::Finish() {
  SetResult(entry_,
            Append(entry_, "tuple", TupleShape(output_shapes_), outputs_));
  entry_.set_id(1);
  module_.set_entry_computation_id(1);
  module_.set_entry_computation_name(entry_.name());
  *module_.mutable_host_program_shape() = entry_.program_shape();
  *module_.add_computations() = std::move(entry_);
  return std::move(module_);
}

absl::StatusOr<CompiledProgram> CompiledProgram::Compile(
    const worker::pjrt::Client& client, Program program) {
  const std::string bytes = program.Finish().SerializeAsString();
  const int replicas = program.replicas();
  CompiledProgram compiled(client, std::move(program));
  ASSIGN_OR_RETURN(compiled.executable_,
                   client.Compile(bytes, /*num_partitions=*/1, replicas));
  compiled.buffers_.resize(replicas);
  for (int replica = 0; replica < replicas; ++replica) {
    for (const Replicated& input : compiled.program_.inputs()) {
      ASSIGN_OR_RETURN(Buffer buffer, client.Upload(input[replica], replica));
      compiled.buffers_[replica].push_back(std::move(buffer));
    }
  }
  return compiled;
}

absl::Status CompiledProgram::Replace(const std::map<int, Replicated>& inputs) {
  for (const auto& [input, arrays] : inputs) {
    for (int replica = 0; replica < program_.replicas(); ++replica) {
      ASSIGN_OR_RETURN(buffers_[replica][input],
                       client_->Upload(arrays[replica], replica));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Replicated>> CompiledProgram::Run(
    const std::map<int, Replicated>& replaced) const {
  std::vector<std::vector<Buffer>> others(program_.replicas());
  std::vector<std::vector<const Buffer*>> arguments(program_.replicas());
  for (int replica = 0; replica < program_.replicas(); ++replica) {
    others[replica].reserve(replaced.size());
    for (size_t i = 0; i < program_.inputs().size(); ++i) {
      const auto found = replaced.find(static_cast<int>(i));
      if (found == replaced.end()) {
        arguments[replica].push_back(&buffers_[replica][i]);
        continue;
      }
      ASSIGN_OR_RETURN(Buffer buffer,
                       client_->Upload(found->second[replica], replica));
      others[replica].push_back(std::move(buffer));
      arguments[replica].push_back(&others[replica].back());
    }
  }
  ASSIGN_OR_RETURN(const worker::pjrt::Execution execution,
                   executable_->Execute(arguments, {}));
  std::vector<Replicated> outputs(execution.outputs[0].size());
  for (const std::vector<Buffer>& of_replica : execution.outputs) {
    for (size_t i = 0; i < of_replica.size(); ++i) {
      ASSIGN_OR_RETURN(Array array, of_replica[i].Download());
      outputs[i].push_back(std::move(array));
    }
  }
  return outputs;
}

}  // namespace meshwright::conformance
