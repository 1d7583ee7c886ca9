// Parts that several families of stress modules are made of.
#ifndef MESHWRIGHT_TESTS_STRESS_PARTS_H_
#define MESHWRIGHT_TESTS_STRESS_PARTS_H_

#include <vector>

#include "proto/hlo/hlo.pb.h"
#include "tests/stress/builder.h"
#include "tests/stress/stress_module.h"

namespace meshwright::stress {

inline constexpr int64_t kSide = 8;

inline hlo::ShapeProto Square() { return Array({kSide, kSide}); }

// A step of one weight: `w` moves towards `value`, whose sum is the loss.
hlo::HloModuleProto FinishStep(Builder& builder, Id w, Id value);

// `count` times: two operations read the value, a third joins them, so that
// 2^count paths lead through.
Id Diamonds(Builder& builder, Id value, int count, const char* left = "negate",
            const char* right = "tanh");

// The weight's gradient: of x w, by the gradient of the product.
Id WeightGradient(Builder& builder, Id x, Id gradient);

// `while (false)` over `carried`, by the body that `make` ends.
template <typename Make>
Id Loop(Builder& builder, const Ids& carried, const Make& make) {
  const Id start = builder.MakeTuple(carried);
  const hlo::ShapeProto shape = builder.GetShape(start);
  builder.Begin();
  const Id argument = builder.Parameter(shape);
  Ids elements;
  for (size_t i = 0; i < carried.size(); ++i) {
    elements.push_back(builder.Element(argument, static_cast<int64_t>(i)));
  }
  const Id body = builder.End(builder.MakeTuple(make(elements)));
  builder.Begin();
  builder.Parameter(shape);
  const Id condition =
      builder.End(builder.Op("constant", Array({}, hlo::PRED), {}));
  hlo::HloInstructionProto& it = builder.Add("while", shape, {start});
  it.add_called_computation_ids(body);
  it.add_called_computation_ids(condition);
  return it.id();
}

std::vector<StressModule> WideModules();
std::vector<StressModule> DeepModules();
std::vector<StressModule> LoopModules();
std::vector<StressModule> DiamondModules();
std::vector<StressModule> TrainingModules();

}  // namespace meshwright::stress

#endif  // MESHWRIGHT_TESTS_STRESS_PARTS_H_
