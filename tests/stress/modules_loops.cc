#include <algorithm>

#include "tests/stress/parts.h"

namespace meshwright::stress {
namespace {

hlo::HloModuleProto ManyCarries(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id value = builder.Dot(w, w, kSide, kSide);
  Ids carried;
  for (int i = 0; i < size / 6; ++i) {
    carried.push_back(builder.Op("negate", Square(), {value}));
  }
  const Id loop = Loop(builder, carried, [&](Ids elements) {
    elements[0] = builder.Dot(elements[0], elements[0], kSide, kSide);
    std::rotate(elements.begin(), elements.begin() + 1, elements.end());
    return elements;
  });
  Id sum = value;
  for (int i = 0; i < size / 6; ++i) {
    sum = builder.Op("add", Square(), {sum, builder.Element(loop, i)});
  }
  return FinishStep(builder, w, sum);
}

hlo::HloModuleProto LoopsInARow(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = builder.Dot(w, w, kSide, kSide);
  for (int i = 0; i < size / 12; ++i) {
    const Id loop = Loop(builder, {value, w}, [&](Ids elements) {
      elements[0] = builder.Dot(elements[0], elements[1], kSide, kSide);
      return elements;
    });
    value = builder.Element(loop, 0);
  }
  return FinishStep(builder, w, value);
}

Id Nest(Builder& builder, Id value, Id w, int depth) {
  if (depth == 0) return builder.Dot(value, w, kSide, kSide);
  const Id loop = Loop(builder, {value, w}, [&](Ids elements) {
    elements[0] = Nest(builder, elements[0], elements[1], depth - 1);
    return elements;
  });
  return builder.Element(loop, 0);
}

hlo::HloModuleProto LoopsInLoops(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = w;
  for (int i = 0; i < std::max(size / 600, 1); ++i) {
    value = Nest(builder, value, w, 50);
  }
  return FinishStep(builder, w, value);
}

hlo::HloModuleProto LoopDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id value = builder.Dot(w, w, kSide, kSide);
  const Id loop = Loop(builder, {value, w}, [&](Ids elements) {
    elements[0] = builder.Dot(elements[0], elements[1], kSide, kSide);
    elements[0] = Diamonds(builder, elements[0], size / 3);
    return elements;
  });
  return FinishStep(builder, w, builder.Element(loop, 0));
}

// Everything that a loop carries is added to one long chain.
hlo::HloModuleProto CarriesIntoOneChain(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id value = builder.Dot(w, w, kSide, kSide);
  const Id loop = Loop(
      builder, Ids(static_cast<size_t>(size / 8), value), [&](Ids elements) {
        Id sum = builder.Dot(elements[0], elements[1], kSide, kSide);
        for (int i = 0; i < size / 2; ++i) {
          sum = builder.Op("negate", Square(), {sum});
          if (i >= size / 8) continue;
          sum = builder.Op("add", Square(), {sum, elements[i]});
        }
        elements[0] = sum;
        return elements;
      });
  return FinishStep(builder, w, builder.Element(loop, 0));
}

// Many slices written to one stack in every trip.
hlo::HloModuleProto StacksInALoop(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id value = builder.Dot(w, w, kSide, kSide);
  hlo::HloInstructionProto& index =
      builder.Add("constant", Array({}, hlo::S32), {});
  *index.mutable_literal()->mutable_shape() = Array({}, hlo::S32);
  index.mutable_literal()->add_s32s(0);
  const hlo::ShapeProto stacked = Array({kSide, kSide, kSide});
  hlo::HloInstructionProto& spread = builder.Add("broadcast", stacked, {value});
  spread.add_dimensions(1);
  spread.add_dimensions(2);
  const Ids carried = {value, w, spread.id(), index.id()};
  const Id loop = Loop(builder, carried, [&](Ids elements) {
    elements[0] = builder.Dot(elements[0], elements[1], kSide, kSide);
    for (int i = 0; i < size / 2; ++i) {
      const Id layer =
          builder.Op("reshape", Array({1, kSide, kSide}), {elements[1]});
      elements[2] = builder.Op(
          "dynamic-update-slice", stacked,
          {elements[2], layer, elements[3], elements[3], elements[3]});
    }
    return elements;
  });
  const Id loss = builder.Sum(builder.Element(loop, 0), 2);
  const Id stacks = builder.Sum(builder.Element(loop, 2), 3);
  const Id both = builder.Op("add", Array({}), {loss, stacks});
  const Id next = builder.Op("subtract", Square(), {w, value});
  return builder.Finish({next, both}, 1);
}

// Loops one after the other that slice one stack, which all of them carry.
hlo::HloModuleProto StackThroughLoops(int size) {
  Builder builder;
  const hlo::ShapeProto stacked = Array({kSide, kSide, kSide});
  const Id w = builder.Parameter(Square());
  Id stack = builder.Parameter(stacked);
  hlo::HloInstructionProto& zero =
      builder.Add("constant", Array({}, hlo::S32), {});
  *zero.mutable_literal()->mutable_shape() = Array({}, hlo::S32);
  zero.mutable_literal()->add_s32s(0);
  Id index = zero.id();
  Id value = builder.Dot(w, w, kSide, kSide);
  for (int i = 0; i < size / 20; ++i) {
    const Id loop = Loop(builder, {value, stack, index}, [&](Ids elements) {
      hlo::HloInstructionProto& cut =
          builder.Add("dynamic-slice", Array({1, kSide, kSide}),
                      {elements[1], elements[2], elements[2], elements[2]});
      for (int64_t extent : {int64_t{1}, kSide, kSide}) {
        cut.add_dynamic_slice_sizes(extent);
      }
      const Id layer = builder.Op("reshape", Square(), {cut.id()});
      elements[0] = builder.Dot(elements[0], layer, kSide, kSide);
      return elements;
    });
    value = builder.Element(loop, 0);
    stack = builder.Element(loop, 1);
    index = builder.Element(loop, 2);
  }
  return FinishStep(builder, w, value);
}

}  // namespace

std::vector<StressModule> LoopModules() {
  return {
      {"ManyCarries", ManyCarries},
      {"LoopsInARow", LoopsInARow},
      {"LoopsInLoops", LoopsInLoops},
      {"LoopDiamonds", LoopDiamonds},
      {"CarriesIntoOneChain", CarriesIntoOneChain},
      {"StacksInALoop", StacksInALoop},
      {"StackThroughLoops", StackThroughLoops},
  };
}

}  // namespace meshwright::stress
