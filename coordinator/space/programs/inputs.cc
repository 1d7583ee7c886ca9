#include "coordinator/space/programs/inputs.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/space/configurations/frozen_weights.h"

namespace meshwright::space {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

// Indices that nothing bounds are flags: masks, types.
constexpr int64_t kFlagBound = 2;
// Norm scales, biases, embeddings: large enough that signals and gradients
// neither vanish nor grow from layer to layer.
constexpr double kPlainScale = 0.5;
// Small against a gradient, so that a wrong gradient shows in the new moment,
// large against the rounding of gradients, which may be zero in theory.
constexpr double kMomentScale = 1e-3;
constexpr double kHalfPrecisionMomentScale = 1e-2;
constexpr double kSecondMomentScale = 1e-2;

// Visits what follows from `start` through users that `passes` lets through,
// until `found` says so of a user; whether it did.
bool Follow(const Module& module, ValueId start,
            const std::function<bool(ValueId user, ValueId value)>& passes,
            const std::function<bool(ValueId user, ValueId value)>& found) {
  std::vector<ValueId> stack = {start};
  std::set<ValueId> seen = {start};
  while (!stack.empty()) {
    const ValueId id = stack.back();
    stack.pop_back();
    for (ValueId user : module.at(id).users) {
      if (found(user, id)) return true;
      if (passes(user, id) && seen.insert(user).second) stack.push_back(user);
    }
  }
  return false;
}

// Operations whose result holds the indices it reads, moved or shifted. A
// product of them (a mask of positions) does not.
bool PassesIndices(const ir::Instruction& it) {
  const std::string& opcode = it.attributes().opcode();
  return opcode == "add" || opcode == "subtract" || opcode == "clamp" ||
         opcode == "maximum" || opcode == "minimum" ||
         it.opcode == Opcode::kSelect || ir::IsLayout(it.opcode) ||
         it.opcode == Opcode::kBroadcast || it.opcode == Opcode::kConcatenate ||
         it.opcode == Opcode::kSlice || it.opcode == Opcode::kDynamicSlice;
}

// The integer that every element of a value is; 0 where that is unknown.
int64_t ConstantInteger(const Module& module, ValueId id) {
  while (module.at(id).opcode == Opcode::kBroadcast ||
         ir::IsLayout(module.at(id).opcode)) {
    id = module.at(id).operands[0];
  }
  if (module.at(id).opcode != Opcode::kConstant) return 0;
  const hlo::LiteralProto& literal = module.at(id).attributes().literal();
  if (literal.s32s_size() == 1) return literal.s32s(0);
  if (literal.s64s_size() == 1) return literal.s64s(0);
  if (literal.u32s_size() == 1) return literal.u32s(0);
  return 0;
}

// By how much `user` shifts the indices that are its operand `value`.
int64_t Shift(const Module& module, ValueId user, ValueId value) {
  const ir::Instruction& it = module.at(user);
  if (it.operands.size() != 2) return 0;
  const bool first = it.operands[0] == value;
  const int64_t constant = ConstantInteger(module, it.operands[first ? 1 : 0]);
  if (it.attributes().opcode() == "add") return constant;
  return it.attributes().opcode() == "subtract" && first ? -constant : 0;
}

// The size of the iota a comparison has on one side; INT64_MAX if none.
int64_t ComparedIota(const Module& module, const ir::Instruction& compare) {
  int64_t bound = INT64_MAX;
  for (ValueId base : compare.operands) {
    while (module.at(base).opcode == Opcode::kBroadcast ||
           ir::IsLayout(module.at(base).opcode)) {
      base = module.at(base).operands[0];
    }
    const ir::Instruction& iota = module.at(base);
    if (iota.opcode == Opcode::kIota) {
      bound = std::min(bound, iota.shape.dims[iota.attributes().dimensions(0)]);
    }
  }
  return bound;
}

// How many indices fit at and above 0 of what `user` does with its operand
// `value`; INT64_MAX where it says nothing.
int64_t CountIndices(const Module& module, ValueId user, ValueId value) {
  const ir::Instruction& it = module.at(user);
  if (it.attributes().opcode() == "compare") return ComparedIota(module, it);
  if (it.opcode != Opcode::kGather || it.operands[1] != value) {
    return INT64_MAX;
  }
  int64_t bound = INT64_MAX;
  for (int64_t dim :
       it.attributes().gather_dimension_numbers().start_index_map()) {
    const int64_t size = module.at(it.operands[0]).shape.dims[dim];
    const int64_t slice = it.attributes().gather_slice_sizes(dim);
    bound = std::min(bound, size - slice + 1);
  }
  return bound;
}

// The size of what an integer argument indexes: of the gathered dimension, of
// the iota it is compared with, less what is added on the way. Where indices
// from below 0 are wrapped, the way without the wrapping is shorter and counts.
int64_t IndexBound(const Module& module, ValueId argument) {
  int64_t bound = INT64_MAX;
  std::map<ValueId, int64_t> shifts = {{argument, 0}};
  std::deque<ValueId> queue = {argument};
  for (; !queue.empty(); queue.pop_front()) {
    const ValueId id = queue.front();
    for (ValueId user : module.at(id).users) {
      const ir::Instruction& it = module.at(user);
      const int64_t indices = CountIndices(module, user, id);
      if (indices != INT64_MAX) bound = std::min(bound, indices - shifts[id]);
      if (!PassesIndices(it) || !ir::IsInteger(it.shape.element_type)) continue;
      const int64_t shift = shifts[id] + Shift(module, user, id);
      if (shifts.emplace(user, shift).second) queue.push_back(user);
    }
  }
  return bound == INT64_MAX ? kFlagBound : std::max<int64_t>(bound, 1);
}

bool IsSquareRoot(const Module& module, ValueId id) {
  const std::string& opcode = module.at(id).attributes().opcode();
  return opcode == "sqrt" || opcode == "rsqrt" || opcode == "power";
}

// The state meets a square root on the way to the update: a second moment.
bool MeetsSquareRoot(const Module& module, ValueId argument) {
  const auto follows = [&](ValueId user, ValueId) {
    const ir::Instruction& it = module.at(user);
    return ir::IsLoopBoundary(it.opcode) ||
           (ir::IsElementwise(it.opcode) &&
            it.shape.dims == module.at(argument).shape.dims);
  };
  return Follow(module, argument, follows, [&](ValueId user, ValueId value) {
    return follows(user, value) && IsSquareRoot(module, user);
  });
}

// A running variance: a root is taken of it, or of it and a small number.
bool IsVariance(const segmenter::Analysis& analysis, ValueId argument) {
  const Module& module = analysis.module;
  const auto follows = [&](ValueId user, ValueId value) {
    const ir::Instruction& it = module.at(user);
    const std::string& opcode = it.attributes().opcode();
    if (opcode == "add" || opcode == "maximum") {
      return std::all_of(
          it.operands.begin(), it.operands.end(), [&](ValueId operand) {
            return operand == value || analysis.passes.recomputable[operand];
          });
    }
    return ir::IsLayout(it.opcode) || it.opcode == Opcode::kBroadcast;
  };
  return Follow(module, argument, follows, [&](ValueId user, ValueId) {
    return IsSquareRoot(module, user);
  });
}

// How many products a contraction sums up per element of its output.
int64_t SummedProducts(const Module& module, ValueId id) {
  const ir::Instruction& it = module.at(id);
  const std::vector<int64_t>& kernel = module.at(it.operands[1]).shape.dims;
  const ir::DotDims dims = ir::GetContractionDims(module, id);
  int64_t products = 1;
  for (size_t i = 0; i < kernel.size(); ++i) {
    const bool summed = dims.side[1][i].role == ir::DotRole::kContracting ||
                        dims.side[1][i].role == ir::DotRole::kSpatial;
    if (summed) products *= kernel[i];
  }
  return products;
}

// Of a weight: so that what it is multiplied into keeps its size.
double WeightScale(const Module& module, ValueId argument) {
  double scale = kPlainScale;
  Follow(
      module, argument,
      [&](ValueId user, ValueId) {
        const Opcode opcode = module.at(user).opcode;
        return ir::IsLayout(opcode) || opcode == Opcode::kSlice ||
               opcode == Opcode::kDynamicSlice;
      },
      [&](ValueId user, ValueId) {
        if (!ir::IsContraction(module, user)) return false;
        const auto products = static_cast<double>(SummedProducts(module, user));
        scale = 1 / std::sqrt(std::max(products, 1.0));
        return true;
      });
  return scale;
}

// Of an argument that is no state: one that a contraction reads as its weight
// is scaled like a weight. Unscaled, float16 overflows in wide layers.
double BatchScale(const segmenter::Analysis& analysis, size_t number) {
  const std::optional<ValueId> contraction =
      FindWeightContraction(analysis, static_cast<int>(number));
  if (!contraction.has_value()) return 1;
  const auto products =
      static_cast<double>(SummedProducts(analysis.module, *contraction));
  return 1 / std::sqrt(std::max(products, 1.0));
}

double MomentScale(const Module& module) {
  const bool half =
      std::any_of(module.instructions.begin(), module.instructions.end(),
                  [](const ir::Instruction& it) {
                    return ir::IsFloating(it.shape.element_type) &&
                           ir::CountElementBytes(it.shape.element_type) < 4;
                  });
  return half ? kHalfPrecisionMomentScale : kMomentScale;
}

v1::InputSpec FloatInput(const segmenter::Analysis& analysis, size_t number,
                         double moment_scale) {
  using segmenter::ArgumentRole;
  const Module& module = analysis.module;
  const ValueId id = module.parameters[number];
  const ArgumentRole role = analysis.passes.roles[number];
  v1::InputSpec spec;
  if (module.at(id).shape.is_scalar()) {
    spec.set_kind(v1::InputSpec::CONSTANT);
    spec.set_value(1);
  } else if (role == ArgumentRole::kOptimizer ? MeetsSquareRoot(module, id)
                                              : IsVariance(analysis, id)) {
    spec.set_kind(v1::InputSpec::POSITIVE);
    spec.set_scale(kSecondMomentScale);
  } else {
    spec.set_kind(v1::InputSpec::NORMAL);
    spec.set_scale(role == ArgumentRole::kBatch ? BatchScale(analysis, number)
                   : role == ArgumentRole::kOptimizer
                       ? moment_scale
                       : WeightScale(module, id));
  }
  return spec;
}

v1::InputSpec IntegerInput(const Module& module, ValueId id) {
  v1::InputSpec spec;
  if (module.at(id).shape.is_scalar()) {
    spec.set_kind(v1::InputSpec::CONSTANT);
    spec.set_value(1);
  } else {
    spec.set_kind(v1::InputSpec::INDEX);
    spec.set_bound(IndexBound(module, id));
  }
  return spec;
}

}  // namespace

std::vector<v1::InputSpec> MakeArgumentInputs(
    const segmenter::Analysis& analysis) {
  const Module& module = analysis.module;
  const double moment_scale = MomentScale(module);
  std::vector<v1::InputSpec> specs;
  for (size_t number = 0; number < module.parameters.size(); ++number) {
    const ValueId id = module.parameters[number];
    specs.push_back(ir::IsFloating(module.at(id).shape.element_type)
                        ? FloatInput(analysis, number, moment_scale)
                        : IntegerInput(module, id));
    specs.back().set_seed(number + 1);
  }
  return specs;
}

v1::InputSpec MakeBoundaryInput(const ir::Shape& shape, uint64_t seed) {
  v1::InputSpec spec;
  spec.set_seed(seed);
  spec.set_just_made(true);
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
