#include "tests/stress/parts.h"

namespace meshwright::stress {
namespace {

// A forward pass whose values all cross to a backward pass as long.
hlo::HloModuleProto ForwardAndBackward(int size) {
  Builder builder;
  const int layers = size / 6;
  Ids weights;
  for (int i = 0; i < layers; ++i)
    weights.push_back(builder.Parameter(Square()));
  const Id x = builder.Parameter(Square());
  Ids values = {x};
  for (Id w : weights) {
    values.push_back(builder.Dot(values.back(), w, kSide, kSide));
  }
  const Id loss = builder.Sum(values.back(), 2);
  Id gradient = builder.Op("tanh", Square(), {values.back()});
  Ids outputs(layers);
  for (int i = layers - 1; i >= 0; --i) {
    hlo::HloInstructionProto& dw =
        builder.Add("dot", Square(), {values[i], gradient});
    dw.mutable_dot_dimension_numbers()->add_lhs_contracting_dimensions(0);
    dw.mutable_dot_dimension_numbers()->add_rhs_contracting_dimensions(0);
    outputs[i] = builder.Op("subtract", Square(), {weights[i], dw.id()});
    hlo::HloInstructionProto& dx =
        builder.Add("dot", Square(), {gradient, weights[i]});
    dx.mutable_dot_dimension_numbers()->add_lhs_contracting_dimensions(1);
    dx.mutable_dot_dimension_numbers()->add_rhs_contracting_dimensions(1);
    gradient = dx.id();
  }
  outputs.push_back(loss);
  return builder.Finish(outputs, layers);
}

// One weight for all layers.
hlo::HloModuleProto OneWeight(int size) {
  Builder builder;
  const int layers = size / 5;
  const Id w = builder.Parameter(Square());
  const Id x = builder.Parameter(Square());
  Ids values = {x};
  for (int i = 0; i < layers; ++i) {
    values.push_back(builder.Dot(values.back(), w, kSide, kSide));
  }
  const Id loss = builder.Sum(values.back(), 2);
  Id gradient = builder.Op("tanh", Square(), {values.back()});
  Id next = w;
  for (int i = layers - 1; i >= 0; --i) {
    hlo::HloInstructionProto& dw =
        builder.Add("dot", Square(), {values[i], gradient});
    dw.mutable_dot_dimension_numbers()->add_lhs_contracting_dimensions(0);
    dw.mutable_dot_dimension_numbers()->add_rhs_contracting_dimensions(0);
    next = builder.Op("subtract", Square(), {next, dw.id()});
    hlo::HloInstructionProto& dx = builder.Add("dot", Square(), {gradient, w});
    dx.mutable_dot_dimension_numbers()->add_lhs_contracting_dimensions(1);
    dx.mutable_dot_dimension_numbers()->add_rhs_contracting_dimensions(1);
    gradient = dx.id();
  }
  return builder.Finish({next, loss}, 1);
}

// A value that is read behind long layouts forward is read so backward.
hlo::HloModuleProto LayoutsBothWays(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id x = builder.Parameter(Square());
  const auto behind = [&](Id value) {
    for (int i = 0; i < size / 4; ++i) {
      value = builder.Op("reshape", Square(), {value});
    }
    return value;
  };
  const Id forward = behind(x);
  const Id backward = behind(x);
  Id value = w;
  Ids values;
  for (int i = 0; i < size / 16; ++i) {
    value = builder.Dot(forward, value, kSide, kSide);
    values.push_back(value);
  }
  const Id loss = builder.Sum(value, 2);
  Id gradient = builder.Op("tanh", Square(), {value});
  for (int i = 0; i < size / 16; ++i) {
    gradient = WeightGradient(builder, backward, gradient);
  }
  const Id next = builder.Op("subtract", Square(), {w, gradient});
  return builder.Finish({next, loss}, 1);
}

// Every layer's norm reads what the first one made.
hlo::HloModuleProto OneSkipForAll(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id first = builder.Dot(w, w, kSide, kSide);
  Id value = first;
  for (int i = 0; i < size / 6; ++i) {
    value = builder.Dot(value, w, kSide, kSide);
    const Id sum = builder.Sum(value, 2);
    const Id wide = builder.Op("broadcast", Square(), {sum});
    const Id scaled = builder.Op("divide", Square(), {value, wide});
    value = builder.Op("add", Square(), {scaled, first});
  }
  return FinishStep(builder, w, value);
}

// State that only its update reads, with one long chain that all updates read.
hlo::HloModuleProto OptimizerStates(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Ids states;
  for (int i = 0; i < size / 4; ++i) {
    states.push_back(builder.Parameter(Square()));
  }
  const Id dot = builder.Dot(w, w, kSide, kSide);
  const Id loss = builder.Sum(dot, 2);
  Id shared = builder.Op("tanh", Square(), {dot});
  for (int i = 0; i < size / 4; ++i) {
    shared = builder.Op("negate", Square(), {shared});
  }
  Ids outputs = {builder.Op("subtract", Square(), {w, shared})};
  for (Id state : states) {
    outputs.push_back(builder.Op("add", Square(), {state, shared}));
  }
  outputs.push_back(loss);
  return builder.Finish(outputs, 1 + size / 4);
}

// The loss sums the squares of all weights (weight decay).
hlo::HloModuleProto WeightsInLoss(int size) {
  Builder builder;
  Ids weights;
  for (int i = 0; i < size / 12; ++i) {
    weights.push_back(builder.Parameter(Square()));
  }
  const Id x = builder.Parameter(Square());
  Ids values = {x};
  for (Id w : weights) {
    const Id dot = builder.Dot(values.back(), w, kSide, kSide);
    values.push_back(builder.Op("tanh", Square(), {dot}));
  }
  Id loss = builder.Sum(values.back(), 2);
  for (Id w : weights) {
    const Id square = builder.Op("multiply", Square(), {w, w});
    loss = builder.Op("add", Array({}), {loss, builder.Sum(square, 2)});
  }
  Id gradient = builder.Op("cosine", Square(), {values.back()});
  Ids outputs(weights.size());
  for (size_t i = weights.size(); i-- > 0;) {
    const Id dw = WeightGradient(builder, values[i], gradient);
    outputs[i] = builder.Op("subtract", Square(), {weights[i], dw});
    hlo::HloInstructionProto& dx =
        builder.Add("dot", Square(), {gradient, weights[i]});
    dx.mutable_dot_dimension_numbers()->add_lhs_contracting_dimensions(1);
    dx.mutable_dot_dimension_numbers()->add_rhs_contracting_dimensions(1);
    gradient = dx.id();
  }
  outputs.push_back(loss);
  return builder.Finish(outputs, static_cast<int>(weights.size()));
}

}  // namespace

std::vector<StressModule> TrainingModules() {
  return {
      {"ForwardAndBackward", ForwardAndBackward},
      {"OneWeight", OneWeight},
      {"LayoutsBothWays", LayoutsBothWays},
      {"OneSkipForAll", OneSkipForAll},
      {"OptimizerStates", OptimizerStates},
      {"WeightsInLoss", WeightsInLoss},
  };
}

}  // namespace meshwright::stress
