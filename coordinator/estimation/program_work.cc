#include "coordinator/estimation/program_work.h"

#include <unordered_map>
#include <vector>

#include "coordinator/ir/shape.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::estimation {
namespace {

using Instruction = hlo::HloInstructionProto;

// Of one dimension, on one device.
double Extent(const Instruction& it, int64_t dim) {
  if (dim < 0 || dim >= it.shape().dimensions_size()) return 1;
  const int at = static_cast<int>(dim);
  const auto size = static_cast<double>(it.shape().dimensions(at));
  const hlo::OpSharding& sharding = it.sharding();
  if (sharding.type() != hlo::OpSharding::OTHER ||
      at >= sharding.tile_assignment_dimensions_size()) {
    return size;
  }
  return size / static_cast<double>(sharding.tile_assignment_dimensions(at));
}

double Elements(const Instruction& it) {
  double elements = 1;
  for (int d = 0; d < it.shape().dimensions_size(); ++d) {
    elements *= Extent(it, d);
  }
  return elements;
}

class Counter {
 public:
  explicit Counter(const hlo::HloModuleProto& module) {
    for (const auto& it : module.computations()) computations_[it.id()] = &it;
    Count(module.entry_computation_id(), 0);
  }

  const Work& work() const { return work_; }

 private:
  // The depth bound holds for any bytes.
  void Count(int64_t computation, int depth) {
    const auto found = computations_.find(computation);
    if (found == computations_.end() || depth > 64) return;
    for (const Instruction& it : found->second->instructions()) {
      by_id_[it.id()] = &it;
      if (it.opcode() == "while" && it.called_computation_ids_size() > 0) {
        Count(it.called_computation_ids(0), depth + 1);
      } else {
        Count(it);
      }
    }
  }

  void Count(const Instruction& it) {
    if (it.opcode() == "parameter" || it.opcode() == "tuple" ||
        it.opcode() == "get-tuple-element" || it.opcode() == "constant") {
      return;
    }
    work_.bytes +=
        Elements(it) *
        static_cast<double>(ir::CountElementBytes(it.shape().element_type()));
    if (it.opcode() == "dot") work_.operations += 2 * Elements(it) * Depth(it);
    if (it.opcode() == "convolution") {
      work_.operations += 2 * Elements(it) * KernelDepth(it);
    }
  }

  const Instruction* Operand(const Instruction& it, int number) const {
    if (number >= it.operand_ids_size()) return nullptr;
    const auto found = by_id_.find(it.operand_ids(number));
    return found == by_id_.end() ? nullptr : found->second;
  }

  double Depth(const Instruction& it) const {
    const Instruction* const lhs = Operand(it, 0);
    double depth = 1;
    if (lhs == nullptr) return depth;
    for (int64_t dim :
         it.dot_dimension_numbers().lhs_contracting_dimensions()) {
      depth *= Extent(*lhs, dim);
    }
    return depth;
  }

  double KernelDepth(const Instruction& it) const {
    const Instruction* const kernel = Operand(it, 1);
    if (kernel == nullptr) return 1;
    return Elements(*kernel) /
           Extent(*kernel, it.convolution_dimension_numbers()
                               .kernel_output_feature_dimension());
  }

  std::unordered_map<int64_t, const hlo::HloComputationProto*> computations_;
  std::unordered_map<int64_t, const Instruction*> by_id_;
  Work work_;
};

}  // namespace

absl::StatusOr<Work> CountWork(const v1::Program& program) {
  hlo::HloModuleProto module;
  if (!module.ParseFromString(program.hlo_module())) {
    return absl::InvalidArgumentError(
        absl::StrCat("the program ", program.label(), " is no HLO module"));
  }
  return Counter(module).work();
}

}  // namespace meshwright::estimation
