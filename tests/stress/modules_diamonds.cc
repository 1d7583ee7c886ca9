#include "tests/stress/parts.h"

namespace meshwright::stress {
namespace {

hlo::HloModuleProto ForwardDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id value = builder.Dot(w, w, kSide, kSide);
  return FinishStep(builder, w, Diamonds(builder, value, size / 3));
}

hlo::HloModuleProto ArgumentDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id value = Diamonds(builder, w, size / 3);
  return FinishStep(builder, w, builder.Dot(value, w, kSide, kSide));
}

// Between a parameter and its next value.
hlo::HloModuleProto UpdateDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id value = builder.Dot(w, w, kSide, kSide);
  const Id loss = builder.Sum(value, 2);
  const Id step = builder.Op("subtract", Square(), {w, value});
  return builder.Finish({Diamonds(builder, step, size / 3), loss}, 1);
}

// Read by every layer, and made of no argument: each segment may compute it.
hlo::HloModuleProto ConstantDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  hlo::HloInstructionProto& iota = builder.Add("iota", Square(), {});
  iota.add_dimensions(0);
  const Id mask = Diamonds(builder, iota.id(), size / 3);
  Id value = w;
  for (int i = 0; i < 8; ++i) {
    const Id dot = builder.Dot(value, w, kSide, kSide);
    value = builder.Op("multiply", Square(), {dot, mask});
  }
  return FinishStep(builder, w, value);
}

// Random bits as an unrolled threefry chain makes them: a round takes both
// halves of what the last one joined, and every layer reads a stage of its own.
hlo::HloModuleProto RandomBitDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const auto slice = [&](Id value, int64_t begin) {
    hlo::HloInstructionProto& cut =
        builder.Add("slice", Array({kSide / 2, kSide}), {value});
    for (int dim = 0; dim < 2; ++dim) {
      auto& range = *cut.add_slice_dimensions();
      range.set_start(dim == 0 ? begin : 0);
      range.set_limit(dim == 0 ? begin + kSide / 2 : kSide);
      range.set_stride(1);
    }
    return cut.id();
  };
  hlo::HloInstructionProto& iota = builder.Add("iota", Square(), {});
  iota.add_dimensions(1);
  Id bits = iota.id();
  Id value = w;
  constexpr int kLayers = 8;
  for (int layer = 0; layer < kLayers; ++layer) {
    for (int i = 0; i < size / (6 * kLayers); ++i) {
      const hlo::ShapeProto half = Array({kSide / 2, kSide});
      const Id a = slice(bits, 0);
      const Id b = slice(bits, kSide / 2);
      const Id sum = builder.Op("add", half, {a, b});
      const Id turned = builder.Op("negate", half, {b});
      const Id mixed = builder.Op("multiply", half, {sum, turned});
      hlo::HloInstructionProto& join =
          builder.Add("concatenate", Square(), {sum, mixed});
      join.add_dimensions(0);
      bits = join.id();
    }
    const Id dot = builder.Dot(value, w, kSide, kSide);
    value = builder.Op("multiply", Square(), {dot, bits});
  }
  return FinishStep(builder, w, value);
}

// Layout operations are looked through from every contraction.
hlo::HloModuleProto LayoutDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = Diamonds(builder, w, size / 3, "reshape", "copy");
  value = builder.Dot(value, w, kSide, kSide);
  value = Diamonds(builder, value, size / 6, "copy", "reshape");
  return FinishStep(builder, w, builder.Dot(value, value, kSide, kSide));
}

hlo::HloModuleProto TupleDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = builder.Dot(w, w, kSide, kSide);
  for (int i = 0; i < size / 5; ++i) {
    const Id tuple = builder.MakeTuple({value, value});
    const Id kept = builder.Op("opt-barrier", builder.GetShape(tuple), {tuple});
    const Id a = builder.Element(kept, 0);
    const Id b = builder.Element(kept, 1);
    value = builder.Op("add", Square(), {a, b});
  }
  return FinishStep(builder, w, value);
}

// Two contractions side by side, joined, again and again.
hlo::HloModuleProto ContractionDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = w;
  for (int i = 0; i < size / 12; ++i) {
    const Id a = builder.Dot(value, w, kSide, kSide);
    const Id b = builder.Dot(value, w, kSide, kSide);
    value = builder.Op("add", Square(), {a, b});
  }
  return FinishStep(builder, w, value);
}

// A norm after a norm: every value is reduced and scaled by its own sum.
hlo::HloModuleProto NormDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = builder.Dot(w, w, kSide, kSide);
  for (int i = 0; i < size / 4; ++i) {
    const Id sum = builder.Sum(value, 2);
    const Id wide = builder.Op("broadcast", Square(), {sum});
    value = builder.Op("divide", Square(), {value, wide});
  }
  return FinishStep(builder, w, value);
}

// Diamonds forward, and as many backward that read them.
hlo::HloModuleProto BackwardDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id x = builder.Parameter(Square());
  const Id first = builder.Dot(x, w, kSide, kSide);
  Ids values = {first};
  for (int i = 0; i < size / 7; ++i) {
    values.push_back(Diamonds(builder, values.back(), 1));
  }
  const Id loss = builder.Sum(values.back(), 2);
  Id gradient = builder.Op("cosine", Square(), {values.back()});
  for (int i = size / 7; i > 0; --i) {
    const Id a = builder.Op("multiply", Square(), {gradient, values[i]});
    const Id b = builder.Op("multiply", Square(), {gradient, values[i - 1]});
    gradient = builder.Op("add", Square(), {a, b});
  }
  hlo::HloInstructionProto& dw = builder.Add("dot", Square(), {x, gradient});
  dw.mutable_dot_dimension_numbers()->add_lhs_contracting_dimensions(0);
  dw.mutable_dot_dimension_numbers()->add_rhs_contracting_dimensions(0);
  const Id next = builder.Op("subtract", Square(), {w, dw.id()});
  return builder.Finish({next, loss}, 1);
}

}  // namespace

std::vector<StressModule> DiamondModules() {
  return {
      {"ForwardDiamonds", ForwardDiamonds},
      {"ArgumentDiamonds", ArgumentDiamonds},
      {"UpdateDiamonds", UpdateDiamonds},
      {"ConstantDiamonds", ConstantDiamonds},
      {"RandomBitDiamonds", RandomBitDiamonds},
      {"LayoutDiamonds", LayoutDiamonds},
      {"TupleDiamonds", TupleDiamonds},
      {"ContractionDiamonds", ContractionDiamonds},
      {"NormDiamonds", NormDiamonds},
      {"BackwardDiamonds", BackwardDiamonds},
  };
}

}  // namespace meshwright::stress
