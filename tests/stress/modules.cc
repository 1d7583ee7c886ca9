#include "tests/stress/modules.h"

#include "tests/stress/parts.h"

namespace meshwright::stress {

hlo::HloModuleProto FinishStep(Builder& builder, Id w, Id value) {
  const Id loss = builder.Sum(value, 2);
  const Id next = builder.Op("subtract", Square(), {w, value});
  return builder.Finish({next, loss}, 1);
}

Id Diamonds(Builder& builder, Id value, int count, const char* left,
            const char* right) {
  const hlo::ShapeProto shape = builder.GetShape(value);
  for (int i = 0; i < count; ++i) {
    const Id a = builder.Op(left, shape, {value});
    const Id b = builder.Op(right, shape, {value});
    value = builder.Op("add", shape, {a, b});
  }
  return value;
}

Id WeightGradient(Builder& builder, Id x, Id gradient) {
  hlo::HloInstructionProto& dw = builder.Add("dot", Square(), {x, gradient});
  dw.mutable_dot_dimension_numbers()->add_lhs_contracting_dimensions(0);
  dw.mutable_dot_dimension_numbers()->add_rhs_contracting_dimensions(0);
  return dw.id();
}

const std::vector<StressModule>& StressModules() {
  static const auto* const modules = [] {
    auto* const all = new std::vector<StressModule>();
    for (const auto& themed : {WideModules(), DeepModules(), LoopModules(),
                               DiamondModules(), TrainingModules()}) {
      all->insert(all->end(), themed.begin(), themed.end());
    }
    return all;
  }();
  return *modules;
}

}  // namespace meshwright::stress
