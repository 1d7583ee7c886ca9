#include "coordinator/space/inputs.h"

#include <algorithm>
#include <set>

#include "coordinator/ir/dim_links.h"

namespace meshwright::space {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

// Indices that nothing bounds are flags: masks, types.
constexpr int64_t kFlagBound = 2;
constexpr double kWeightScale = 0.02;

bool PassesIndices(const ir::Instruction& it) {
  return ir::IsElementwise(it.opcode) || ir::IsLayout(it.opcode) ||
         it.opcode == Opcode::kBroadcast || it.opcode == Opcode::kConcatenate ||
         it.opcode == Opcode::kSlice;
}

// The size of what an integer argument indexes: of the gathered dimension, of
// the iota it is compared with.
int64_t IndexBound(const Module& module, ValueId argument) {
  int64_t bound = INT64_MAX;
  std::vector<ValueId> stack = {argument};
  std::set<ValueId> seen = {argument};
  while (!stack.empty()) {
    const ValueId id = stack.back();
    stack.pop_back();
    for (ValueId user : module.at(id).users) {
      const ir::Instruction& it = module.at(user);
      if (it.opcode == Opcode::kGather && it.operands[1] == id) {
        for (int64_t dim :
             it.attributes().gather_dimension_numbers().start_index_map()) {
          bound =
              std::min(bound, module.at(it.operands[0]).shape.dims[dim] -
                                  it.attributes().gather_slice_sizes(dim) + 1);
        }
        continue;
      }
      if (it.attributes().opcode() == "compare") {
        for (ValueId operand : it.operands) {
          ValueId base = operand;
          while (module.at(base).opcode == Opcode::kBroadcast ||
                 ir::IsLayout(module.at(base).opcode)) {
            base = module.at(base).operands[0];
          }
          if (module.at(base).opcode == Opcode::kIota) {
            const auto& iota = module.at(base);
            bound = std::min(bound,
                             iota.shape.dims[iota.attributes().dimensions(0)]);
          }
        }
      }
      if (PassesIndices(it) && ir::IsInteger(it.shape.element_type) &&
          seen.insert(user).second) {
        stack.push_back(user);
      }
    }
  }
  return bound == INT64_MAX ? kFlagBound : std::max<int64_t>(bound, 1);
}

// The state meets a square root on the way to the update: a second moment.
bool MeetsSquareRoot(const Module& module, ValueId argument) {
  const ir::Shape& shape = module.at(argument).shape;
  std::vector<ValueId> stack = {argument};
  std::set<ValueId> seen = {argument};
  while (!stack.empty()) {
    const ValueId id = stack.back();
    stack.pop_back();
    for (ValueId user : module.at(id).users) {
      const ir::Instruction& it = module.at(user);
      if (!ir::IsElementwise(it.opcode) || it.shape.dims != shape.dims) {
        continue;
      }
      const std::string& opcode = it.attributes().opcode();
      if (opcode == "sqrt" || opcode == "rsqrt" || opcode == "power") {
        return true;
      }
      if (seen.insert(user).second) stack.push_back(user);
    }
  }
  return false;
}

}  // namespace

std::vector<v1::InputSpec> ArgumentInputs(const segmenter::Analysis& analysis) {
  const Module& module = analysis.module;
  std::vector<v1::InputSpec> specs;
  for (size_t number = 0; number < module.parameters.size(); ++number) {
    const ValueId id = module.parameters[number];
    const ir::Shape& shape = module.at(id).shape;
    const bool optimizer =
        analysis.direction.roles[number] == segmenter::ArgumentRole::kOptimizer;
    v1::InputSpec spec;
    spec.set_seed(number + 1);
    if (!ir::IsFloating(shape.element_type)) {
      if (shape.is_scalar()) {
        spec.set_kind(v1::InputSpec::CONSTANT);
        spec.set_value(1);
      } else {
        spec.set_kind(v1::InputSpec::INDEX);
        spec.set_bound(IndexBound(module, id));
      }
    } else if (shape.is_scalar()) {
      spec.set_kind(v1::InputSpec::CONSTANT);
      spec.set_value(1);
    } else if (optimizer && MeetsSquareRoot(module, id)) {
      spec.set_kind(v1::InputSpec::POSITIVE);
      spec.set_scale(1e-2);
    } else {
      spec.set_kind(v1::InputSpec::NORMAL);
      const bool batch =
          analysis.direction.roles[number] == segmenter::ArgumentRole::kBatch;
      spec.set_scale(batch ? 1.0 : kWeightScale);
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

v1::InputSpec BorderInput(const ir::Shape& shape, uint64_t seed) {
  v1::InputSpec spec;
  spec.set_seed(seed);
  if (ir::IsFloating(shape.element_type)) {
    spec.set_kind(v1::InputSpec::NORMAL);
    spec.set_scale(1.0);
  } else {
    spec.set_kind(v1::InputSpec::INDEX);
    spec.set_bound(kFlagBound);
  }
  return spec;
}

}  // namespace meshwright::space
