#include "coordinator/space/configurations/frozen_weights.h"

#include <set>
#include <vector>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/opcode.h"

namespace meshwright::space {
namespace {

using ir::Opcode;
using ir::ValueId;
using segmenter::Analysis;
using segmenter::ArgumentRole;

// A contraction, on its right side.
bool ReadsAsWeight(const Analysis& analysis, ValueId user, ValueId value) {
  if (!ir::IsContraction(analysis.module, user)) return false;
  const std::vector<ValueId>& operands = analysis.module.at(user).operands;
  if (operands[1] != value || operands[0] == value) return false;
  return analysis.passes.inference ||
         analysis.passes.batch_derived[operands[0]] != 0;
}

// The first forward reader that `is_meant` takes, behind operations that only
// move or slice; none for what is no floating tensor of the batch's role.
template <typename IsMeant>
std::optional<ValueId> FindReader(const Analysis& analysis, int number,
                                  const IsMeant& is_meant) {
  const ir::Module& module = analysis.module;
  const ValueId argument = module.parameters[number];
  const ir::Shape& shape = module.at(argument).shape;
  if (analysis.passes.roles[number] != ArgumentRole::kBatch ||
      shape.is_tuple() || !ir::IsFloating(shape.element_type)) {
    return std::nullopt;
  }
  std::vector<ValueId> stack = {argument};
  std::set<ValueId> seen = {argument};
  while (!stack.empty()) {
    const ValueId id = stack.back();
    stack.pop_back();
    for (const ValueId user : module.at(id).users) {
      if (!analysis.passes.forward[user]) continue;
      if (is_meant(user, id)) return user;
      const Opcode opcode = module.at(user).opcode;
      const bool passes = ir::IsLayout(opcode) || opcode == Opcode::kSlice ||
                          (opcode == Opcode::kDynamicSlice &&
                           module.at(user).operands[0] == id);
      if (passes && seen.insert(user).second) stack.push_back(user);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ValueId> FindWeightContraction(const Analysis& analysis,
                                             int number) {
  return FindReader(analysis, number, [&](ValueId user, ValueId value) {
    return ReadsAsWeight(analysis, user, value);
  });
}

bool IsFrozenWeight(const Analysis& analysis, int number) {
  const ir::Module& module = analysis.module;
  return FindReader(analysis, number,
                    [&](ValueId user, ValueId value) {
                      const bool gathers =
                          module.at(user).opcode == Opcode::kGather &&
                          module.at(user).operands[0] == value;
                      return gathers || ReadsAsWeight(analysis, user, value);
                    })
      .has_value();
}

bool IsWeight(const Analysis& analysis, int number) {
  return analysis.passes.roles[number] == ArgumentRole::kParameter ||
         IsFrozenWeight(analysis, number);
}

}  // namespace meshwright::space
