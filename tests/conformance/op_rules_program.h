// Programs of many cases, and runs of them on the XLA CPU plugin.
//
// Concept: a program is one module whose inputs are host arrays and whose
// outputs are the leaves of every operation added to it. It is compiled once
// and may run with other arrays in place of its inputs.
// Errors: those of the plugin, which name the operation it refused.
#ifndef MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_PROGRAM_H_
#define MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_PROGRAM_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/op_rules_case.h"
#include "worker/pjrt/client.h"

namespace meshwright::conformance {

// By replica.
using Replicated = std::vector<Array>;

class Program {
 public:
  explicit Program(int replicas);

  // Returns its number among the inputs.
  int AddInput(Replicated arrays);
  // `operands`: per operand, the inputs that are its leaves. Returns the number
  // of its first output; the others follow.
  int AddOperation(const OpCase& one,
                   const std::vector<std::vector<int>>& operands);

  const std::vector<Replicated>& inputs() const { return inputs_; }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  int replicas() const { return replicas_; }
  hlo::HloModuleProto Finish();

 private:
  int64_t Append(hlo::HloComputationProto& computation,
                 hlo::HloInstructionProto it, const ir::Shape& shape,
                 const std::vector<int64_t>& operands);
  int64_t Append(hlo::HloComputationProto& computation,
                 const std::string& opcode, const ir::Shape& shape,
                 const std::vector<int64_t>& operands);
  int64_t Parameter(hlo::HloComputationProto& computation,
                    const ir::Shape& shape);
  int64_t CalleeId(const Callee& callee);
  int64_t CalleeRoot(hlo::HloComputationProto& computation,
                     const Callee& callee, const std::vector<int64_t>& p);

  int replicas_;
  std::vector<Replicated> inputs_;
  std::vector<int64_t> input_ids_;
  std::vector<int64_t> outputs_;
  std::vector<ir::Shape> output_shapes_;
  hlo::HloModuleProto module_;
  hlo::HloComputationProto entry_;
  std::map<std::string, int64_t> callees_;
  int64_t next_id_ = 1;
};

class CompiledProgram {
 public:
  static absl::StatusOr<CompiledProgram> Compile(
      const worker::pjrt::Client& client, Program program);

  // From here on these inputs take other arrays.
  absl::Status Replace(const std::map<int, Replicated>& inputs);
  // Outputs by number. `replaced` inputs take other arrays in this run.
  absl::StatusOr<std::vector<Replicated>> Run(
      const std::map<int, Replicated>& replaced) const;
  const Program& program() const { return program_; }

 private:
  CompiledProgram(const worker::pjrt::Client& client, Program program)
      : client_(&client), program_(std::move(program)) {}

  const worker::pjrt::Client* client_;
  Program program_;
  std::unique_ptr<worker::pjrt::Executable> executable_;
  // By replica and input; shared by all runs.
  std::vector<std::vector<worker::pjrt::Buffer>> buffers_;
};

}  // namespace meshwright::conformance

#endif  // MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_PROGRAM_H_
