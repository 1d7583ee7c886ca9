#include "coordinator/segmenter/hash.h"

#include <map>
#include <string>
#include <unordered_map>

#include "base/fingerprint.h"

namespace meshwright::segmenter {
namespace {

using base::Mix;

class OperationHasher {
 public:
  explicit OperationHasher(const ir::Module& module) : module_(module) {}

  uint64_t Hash(const ir::Instruction& it) {
    return Mix(HashAttributes(it.attributes()), HashShape(it.shape));
  }

 private:
  uint64_t HashAttributes(const hlo::HloInstructionProto& source) {
    hlo::HloInstructionProto& bare = scratch_;
    bare = source;
    bare.clear_name();
    bare.clear_id();
    bare.clear_metadata();
    bare.clear_operand_ids();
    bare.clear_called_computation_ids();
    bare.clear_control_predecessor_ids();
    bare.clear_sharding();
    bare.clear_shape();
    bare.clear_statistics_viz();
    bare.clear_original_value();
    if (bare.has_literal()) bare.mutable_literal()->clear_shape();
    // Which argument it is does not say what it does.
    if (bare.opcode() == "parameter") bare.clear_parameter_number();
    bare.SerializeToString(&bytes_);
    uint64_t hash = Mix(0, bytes_);
    for (int64_t callee : source.called_computation_ids()) {
      hash = Mix(hash, HashComputation(callee));
    }
    return hash;
  }

  uint64_t HashComputation(int64_t id) {
    const auto found = computations_.find(id);
    if (found != computations_.end()) return found->second;
    const hlo::HloComputationProto& computation = *module_.computations.at(id);
    std::unordered_map<int64_t, uint64_t> values;
    for (const hlo::HloInstructionProto& it : computation.instructions()) {
      uint64_t hash = HashAttributes(it);
      hash = Mix(hash, static_cast<uint64_t>(it.parameter_number()));
      std::string shape;
      hlo::ShapeProto bare = it.shape();
      bare.clear_layout();
      bare.SerializeToString(&shape);
      hash = Mix(hash, shape);
      for (int64_t operand : it.operand_ids())
        hash = Mix(hash, values[operand]);
      values[it.id()] = hash;
    }
    return computations_[id] = values[computation.root_id()];
  }

  const ir::Module& module_;
  std::map<int64_t, uint64_t> computations_;
  hlo::HloInstructionProto scratch_;
  std::string bytes_;
};

}  // namespace

uint64_t HashShape(const ir::Shape& shape) {
  uint64_t hash = Mix(1, static_cast<uint64_t>(shape.element_type));
  for (int64_t dim : shape.dims) hash = Mix(hash, static_cast<uint64_t>(dim));
  for (const ir::Shape& element : shape.elements) {
    hash = Mix(hash, HashShape(element));
  }
  return hash;
}

std::vector<uint64_t> HashOperations(const ir::Module& module) {
  OperationHasher hasher(module);
  std::vector<uint64_t> hashes;
  hashes.reserve(module.size());
  for (const ir::Instruction& it : module.instructions) {
    hashes.push_back(hasher.Hash(it));
  }
  return hashes;
}

}  // namespace meshwright::segmenter
