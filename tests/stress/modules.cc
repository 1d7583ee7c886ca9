#include "tests/stress/modules.h"

#include <algorithm>
#include <string>

#include "tests/stress/builder.h"

namespace meshwright::stress {
namespace {

constexpr int64_t kSide = 8;

hlo::ShapeProto Square() { return Array({kSide, kSide}); }

// A step of one weight: `w` moves towards `value`, whose sum is the loss.
hlo::HloModuleProto StepOf(Builder& builder, Id w, Id value) {
  const Id loss = builder.Sum(value, 2);
  const Id next = builder.Op("subtract", Square(), {w, value});
  return builder.Finish({next, loss}, 1);
}

hlo::HloModuleProto LongChain(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = builder.Dot(w, w, kSide, kSide);
  for (int i = 0; i < size; ++i) {
    value = builder.Op("negate", Square(), {value});
  }
  return StepOf(builder, w, value);
}

hlo::HloModuleProto ChainOfSums(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = builder.Dot(w, w, kSide, kSide);
  for (int i = 0; i < size; ++i) {
    value = builder.Op("add", Square(), {value, i % 2 == 0 ? w : value});
  }
  return StepOf(builder, w, value);
}

// Contractions side by side that one sum collects.
hlo::HloModuleProto WideRoots(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id sum = builder.Dot(w, w, kSide, kSide);
  for (int i = 0; i < size / 3; ++i) {
    const Id other = builder.Op("negate", Square(), {w});
    const Id dot = builder.Dot(w, other, kSide, kSide);
    sum = builder.Op("add", Square(), {sum, dot});
  }
  return StepOf(builder, w, sum);
}

// The same, each reduced: is what it reduces split?
hlo::HloModuleProto WideRootsReduced(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id sum = builder.Dot(w, w, kSide, kSide);
  Ids sums;
  for (int i = 0; i < size / 5; ++i) {
    const Id dot = builder.Dot(w, w, kSide, kSide);
    sum = builder.Op("add", Square(), {sum, dot});
    const Id total = builder.Sum(sum, 2);
    sums.push_back(total);
  }
  Id loss = sums[0];
  for (Id it : sums) loss = builder.Op("add", Array({}), {loss, it});
  const Id next = builder.Op("subtract", Square(), {w, sum});
  return builder.Finish({next, loss}, 1);
}

hlo::HloModuleProto DeepRoots(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = w;
  for (int i = 0; i < size / 2; ++i) {
    const Id dot = builder.Dot(value, w, kSide, kSide);
    value = builder.Op("add", Square(), {value, dot});
  }
  return StepOf(builder, w, value);
}

// Blocks of which no two are equal.
hlo::HloModuleProto DistinctBlocks(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = w;
  unsigned random = 1;
  for (int i = 0; i < size / 4; ++i) {
    value = builder.Dot(value, w, kSide, kSide);
    for (int k = 0; k < 3; ++k) {
      random = random * 1664525 + 1013904223;
      static constexpr const char* kOpcodes[] = {"negate", "abs", "exponential",
                                                 "tanh"};
      value = builder.Op(kOpcodes[random >> 30], Square(), {value});
    }
  }
  return StepOf(builder, w, value);
}

// Contractions that read one value, each behind one layout operation more.
hlo::HloModuleProto LayoutsInARow(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id layout = w;
  Id sum = builder.Dot(w, w, kSide, kSide);
  for (int i = 0; i < size / 3; ++i) {
    layout = builder.Op("reshape", Square(), {layout});
    const Id dot = builder.Dot(layout, sum, kSide, kSide);
    sum = builder.Op("add", Square(), {sum, dot});
  }
  return StepOf(builder, w, sum);
}

hlo::HloModuleProto ManyOperands(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id value = builder.Dot(w, w, kSide, kSide);
  Ids rows;
  for (int i = 0; i < size; ++i) {
    rows.push_back(builder.Op("negate", Square(), {value}));
  }
  hlo::HloInstructionProto& join =
      builder.Add("concatenate", Array({kSide * size, kSide}), rows);
  join.add_dimensions(0);
  const Id joined = join.id();
  const Id loss = builder.Sum(joined, 2);
  const Id next = builder.Op("subtract", Square(), {w, value});
  return builder.Finish({next, loss}, 1);
}

// One contraction cut into single columns.
hlo::HloModuleProto ManySlices(int size) {
  Builder builder;
  const int64_t columns = size / 2;
  const Id w = builder.Parameter(Array({kSide, columns}));
  const Id x = builder.Parameter(Square());
  const Id dot = builder.Dot(x, w, kSide, columns);
  Id sum = -1;
  for (int64_t i = 0; i < columns; ++i) {
    hlo::HloInstructionProto& cut =
        builder.Add("slice", Array({kSide, 1}), {dot});
    for (int dim = 0; dim < 2; ++dim) {
      auto& range = *cut.add_slice_dimensions();
      range.set_start(dim == 0 ? 0 : i);
      range.set_limit(dim == 0 ? kSide : i + 1);
      range.set_stride(1);
    }
    const Id column = cut.id();
    sum =
        sum < 0 ? column : builder.Op("add", Array({kSide, 1}), {sum, column});
  }
  const Id loss = builder.Sum(sum, 2);
  const Id next = builder.Op("negate", Array({kSide, columns}), {w});
  return builder.Finish({next, loss}, 1);
}

// Outputs that may each be a loss or a gradient.
hlo::HloModuleProto ManyOutputs(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = builder.Dot(w, w, kSide, kSide);
  Ids outputs = {w};
  for (int i = 0; i < size / 2; ++i) {
    value = builder.Dot(value, w, kSide, kSide);
    outputs.push_back(builder.Op("negate", Square(), {value}));
  }
  outputs[0] = builder.Op("subtract", Square(), {w, value});
  return builder.Finish(outputs, 1);
}

// Nothing donated, and every argument reaches every output elementwise.
hlo::HloModuleProto NothingDonated(int size) {
  Builder builder;
  Ids arguments;
  for (int i = 0; i < size / 3; ++i) {
    arguments.push_back(builder.Parameter(Square()));
  }
  Id sum = arguments[0];
  for (Id it : arguments) sum = builder.Op("add", Square(), {sum, it});
  Ids outputs;
  for (int i = 0; i < size / 3; ++i) {
    outputs.push_back(builder.Op("negate", Square(), {sum}));
  }
  const Id dot = builder.Dot(sum, arguments[0], kSide, kSide);
  outputs.push_back(builder.Sum(dot, 2));
  return builder.Finish(outputs, 0);
}

hlo::HloModuleProto WideTuple(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id value = builder.Dot(w, w, kSide, kSide);
  Ids elements;
  for (int i = 0; i < size / 3; ++i) {
    elements.push_back(builder.Op("negate", Square(), {value}));
  }
  const Id tuple =
      builder.Op("opt-barrier", builder.ShapeOf(builder.TupleOf(elements)),
                 {static_cast<Id>(builder.TupleOf(elements))});
  Id sum = value;
  for (int i = 0; i < size / 3; ++i) {
    sum = builder.Op("add", Square(), {sum, builder.Element(tuple, i)});
  }
  return StepOf(builder, w, sum);
}

// `while (false)` over `carried`, by the body that `make` ends.
template <typename Make>
Id Loop(Builder& builder, const Ids& carried, const Make& make) {
  const Id start = builder.TupleOf(carried);
  const hlo::ShapeProto shape = builder.ShapeOf(start);
  builder.Begin();
  const Id argument = builder.Parameter(shape);
  Ids elements;
  for (size_t i = 0; i < carried.size(); ++i) {
    elements.push_back(builder.Element(argument, static_cast<int64_t>(i)));
  }
  const Id body = builder.End(builder.TupleOf(make(elements)));
  builder.Begin();
  builder.Parameter(shape);
  const Id condition =
      builder.End(builder.Op("constant", Array({}, hlo::PRED), {}));
  hlo::HloInstructionProto& it = builder.Add("while", shape, {start});
  it.add_called_computation_ids(body);
  it.add_called_computation_ids(condition);
  return it.id();
}

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
  return StepOf(builder, w, sum);
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
  return StepOf(builder, w, value);
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
  return StepOf(builder, w, value);
}

// Every computation calls the one before it `calls` times.
hlo::HloModuleProto Calls(int levels, int calls) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id callee = 0;
  for (int level = 0; level < levels; ++level) {
    builder.Begin();
    Id value = builder.Parameter(Square());
    for (int i = 0; i < calls && callee != 0; ++i) {
      hlo::HloInstructionProto& call = builder.Add("call", Square(), {value});
      call.add_called_computation_ids(callee);
      value = call.id();
    }
    callee = builder.End(builder.Op("negate", Square(), {value}));
  }
  const Id dot = builder.Dot(w, w, kSide, kSide);
  hlo::HloInstructionProto& call = builder.Add("call", Square(), {dot});
  call.add_called_computation_ids(callee);
  return StepOf(builder, w, call.id());
}

hlo::HloModuleProto CallsDouble(int) { return Calls(60, 2); }
hlo::HloModuleProto CallsNest(int size) { return Calls(size, 1); }

// What every segment computes anew, as large as all of them together.
hlo::HloModuleProto SharedByAll(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  hlo::HloInstructionProto& iota = builder.Add("iota", Square(), {});
  iota.add_dimensions(0);
  Id mask = iota.id();
  for (int i = 0; i < size / 2; ++i) {
    mask = builder.Op("negate", Square(), {mask});
  }
  Id value = w;
  for (int i = 0; i < size / 4; ++i) {
    const Id dot = builder.Dot(value, w, kSide, kSide);
    value = builder.Op("add", Square(), {dot, mask});
  }
  return StepOf(builder, w, value);
}

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

// Every layer feeds every tenth layer after it.
hlo::HloModuleProto LongSkips(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Ids values = {w};
  for (int i = 0; i < size / 12; ++i) {
    Id value = builder.Dot(values.back(), w, kSide, kSide);
    for (int back = 10; back < std::min(i, 100); back += 10) {
      value = builder.Op("add", Square(), {value, values[i - back]});
    }
    values.push_back(value);
  }
  return StepOf(builder, w, values.back());
}

// `count` times: two operations read the value, a third joins them, so that
// 2^count paths lead through.
Id Diamonds(Builder& builder, Id value, int count, const char* left = "negate",
            const char* right = "tanh") {
  const hlo::ShapeProto shape = builder.ShapeOf(value);
  for (int i = 0; i < count; ++i) {
    const Id a = builder.Op(left, shape, {value});
    const Id b = builder.Op(right, shape, {value});
    value = builder.Op("add", shape, {a, b});
  }
  return value;
}

hlo::HloModuleProto ForwardDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id value = builder.Dot(w, w, kSide, kSide);
  return StepOf(builder, w, Diamonds(builder, value, size / 3));
}

hlo::HloModuleProto ArgumentDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id value = Diamonds(builder, w, size / 3);
  return StepOf(builder, w, builder.Dot(value, w, kSide, kSide));
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
  return StepOf(builder, w, value);
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
  return StepOf(builder, w, value);
}

// Layout operations are looked through from every contraction.
hlo::HloModuleProto LayoutDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = Diamonds(builder, w, size / 3, "reshape", "copy");
  value = builder.Dot(value, w, kSide, kSide);
  value = Diamonds(builder, value, size / 6, "copy", "reshape");
  return StepOf(builder, w, builder.Dot(value, value, kSide, kSide));
}

hlo::HloModuleProto TupleDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = builder.Dot(w, w, kSide, kSide);
  for (int i = 0; i < size / 5; ++i) {
    const Id tuple = builder.TupleOf({value, value});
    const Id kept = builder.Op("opt-barrier", builder.ShapeOf(tuple), {tuple});
    const Id a = builder.Element(kept, 0);
    const Id b = builder.Element(kept, 1);
    value = builder.Op("add", Square(), {a, b});
  }
  return StepOf(builder, w, value);
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
  return StepOf(builder, w, value);
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
  return StepOf(builder, w, value);
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

hlo::HloModuleProto LoopDiamonds(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id value = builder.Dot(w, w, kSide, kSide);
  const Id loop = Loop(builder, {value, w}, [&](Ids elements) {
    elements[0] = builder.Dot(elements[0], elements[1], kSide, kSide);
    elements[0] = Diamonds(builder, elements[0], size / 3);
    return elements;
  });
  return StepOf(builder, w, builder.Element(loop, 0));
}

hlo::HloModuleProto EmptyDimensions(int size) {
  Builder builder;
  const Id w = builder.Parameter(Array({kSide, 0}));
  const Id x = builder.Parameter(Array({0, kSide}));
  Id value = builder.Dot(x, w, 0, 0);
  for (int i = 0; i < size; ++i) {
    value = builder.Op("negate", Array({0, 0}), {value});
  }
  const Id loss = builder.Sum(value, 2);
  const Id next = builder.Op("negate", Array({kSide, 0}), {w});
  return builder.Finish({next, loss}, 1);
}

hlo::HloModuleProto HugeDimensions(int size) {
  Builder builder;
  const int64_t side = int64_t{1} << 24;
  const Id w = builder.Parameter(Array({side, side}));
  Id value = builder.Dot(w, w, side, side);
  for (int i = 0; i < size; ++i) {
    value = builder.Op("add", Array({side, side}), {value, w});
  }
  const Id loss = builder.Sum(value, 2);
  const Id next = builder.Op("subtract", Array({side, side}), {w, value});
  return builder.Finish({next, loss}, 1);
}

}  // namespace

const std::vector<StressModule>& StressModules() {
  static const auto* const modules = new std::vector<StressModule>{
      {"LongChain", LongChain},
      {"ChainOfSums", ChainOfSums},
      {"WideRoots", WideRoots},
      {"WideRootsReduced", WideRootsReduced},
      {"DeepRoots", DeepRoots},
      {"DistinctBlocks", DistinctBlocks},
      {"LayoutsInARow", LayoutsInARow},
      {"ManyOperands", ManyOperands},
      {"ManySlices", ManySlices},
      {"ManyOutputs", ManyOutputs},
      {"NothingDonated", NothingDonated},
      {"WideTuple", WideTuple},
      {"ManyCarries", ManyCarries},
      {"LoopsInARow", LoopsInARow},
      {"LoopsInLoops", LoopsInLoops},
      {"CallsDouble", CallsDouble},
      {"CallsNest", CallsNest},
      {"SharedByAll", SharedByAll},
      {"ForwardAndBackward", ForwardAndBackward},
      {"OneWeight", OneWeight},
      {"LongSkips", LongSkips},
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
      {"LoopDiamonds", LoopDiamonds},
      {"EmptyDimensions", EmptyDimensions},
      {"HugeDimensions", HugeDimensions},
  };
  return *modules;
}

}  // namespace meshwright::stress
