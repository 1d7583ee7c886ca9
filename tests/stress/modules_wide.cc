#include <algorithm>

#include "tests/stress/parts.h"

namespace meshwright::stress {
namespace {

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
  return FinishStep(builder, w, sum);
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
      builder.Op("opt-barrier", builder.GetShape(builder.MakeTuple(elements)),
                 {static_cast<Id>(builder.MakeTuple(elements))});
  Id sum = value;
  for (int i = 0; i < size / 3; ++i) {
    sum = builder.Op("add", Square(), {sum, builder.Element(tuple, i)});
  }
  return FinishStep(builder, w, sum);
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

// One operation that reads one value over and over.
hlo::HloModuleProto EqualOperands(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id value = builder.Dot(w, w, kSide, kSide);
  const int count = size / 4;
  hlo::HloInstructionProto& join =
      builder.Add("concatenate", Array({kSide * count, kSide}),
                  Ids(static_cast<size_t>(count), value));
  join.add_dimensions(0);
  const Id loss = builder.Sum(join.id(), 2);
  const Id next = builder.Op("subtract", Square(), {w, value});
  return builder.Finish({next, loss}, 1);
}

// Operations of which each reads all weights, joined.
hlo::HloModuleProto ManyWeightsJoined(int size) {
  Builder builder;
  Ids weights;
  const int count = size / 4;
  for (int i = 0; i < count; ++i)
    weights.push_back(builder.Parameter(Square()));
  hlo::HloInstructionProto& join =
      builder.Add("concatenate", Array({kSide * count, kSide}), weights);
  join.add_dimensions(0);
  const Id joined = join.id();
  Id sum = builder.Sum(joined, 2);
  for (int i = 0; i < count / 4; ++i) {
    const Id total = builder.Sum(joined, 2);
    sum = builder.Op("add", Array({}), {sum, total});
  }
  const Id dot = builder.Dot(weights[0], weights[0], kSide, kSide);
  const Id loss = builder.Op("add", Array({}), {sum, builder.Sum(dot, 2)});
  Ids outputs;
  for (Id w : weights) outputs.push_back(builder.Op("negate", Square(), {w}));
  outputs.push_back(loss);
  return builder.Finish(outputs, count);
}

// Nothing donated, and all outputs are one value.
hlo::HloModuleProto OneOutputForAll(int size) {
  Builder builder;
  Ids arguments;
  for (int i = 0; i < size / 2; ++i) {
    arguments.push_back(builder.Parameter(Square()));
  }
  Id sum = arguments[0];
  for (Id it : arguments) sum = builder.Op("add", Square(), {sum, it});
  Ids outputs(arguments.size(), sum);
  const Id dot = builder.Dot(sum, arguments[0], kSide, kSide);
  outputs.push_back(builder.Sum(dot, 2));
  return builder.Finish(outputs, 0);
}

// A dimension of many roots that takes another size wherever it is looked at.
hlo::HloModuleProto ManySizes(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id sum = builder.Dot(w, w, kSide, kSide);
  for (int i = 0; i < size / 8; ++i) {
    const Id dot = builder.Dot(w, w, kSide, kSide);
    sum = builder.Op("add", Square(), {sum, dot});
  }
  Id loss = builder.Sum(sum, 2);
  for (int64_t i = 0; i < size / 16; ++i) {
    const hlo::ShapeProto spread = Array({kSide, i + 2, kSide});
    hlo::HloInstructionProto& wide = builder.Add("broadcast", spread, {sum});
    wide.add_dimensions(0);
    wide.add_dimensions(2);
    const Id flat =
        builder.Op("reshape", Array({kSide * (i + 2), kSide}), {wide.id()});
    loss = builder.Op("add", Array({}), {loss, builder.Sum(flat, 2)});
  }
  const Id next = builder.Op("subtract", Square(), {w, sum});
  return builder.Finish({next, loss}, 1);
}

// A reducer as large as the step, and many that call it.
hlo::HloModuleProto HugeReducer(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  builder.Begin();
  Id value = builder.Parameter(Array({}));
  const Id other = builder.Parameter(Array({}));
  for (int i = 0; i < size / 2; ++i) {
    value = builder.Op("add", Array({}), {value, other});
  }
  const Id reducer = builder.End(value);
  const Id dot = builder.Dot(w, w, kSide, kSide);
  const Id zero = builder.Scalar(0);
  Id loss = builder.Sum(dot, 2);
  for (int i = 0; i < size / 6; ++i) {
    hlo::HloInstructionProto& it =
        builder.Add("reduce", Array({}), {dot, zero});
    it.add_dimensions(0);
    it.add_dimensions(1);
    it.add_called_computation_ids(reducer);
    const Id total = it.id();
    loss = builder.Op("add", Array({}), {loss, total});
  }
  const Id next = builder.Op("subtract", Square(), {w, dot});
  return builder.Finish({next, loss}, 1);
}

}  // namespace

std::vector<StressModule> WideModules() {
  return {
      {"WideRoots", WideRoots},
      {"WideRootsReduced", WideRootsReduced},
      {"ManyOperands", ManyOperands},
      {"ManySlices", ManySlices},
      {"ManyOutputs", ManyOutputs},
      {"NothingDonated", NothingDonated},
      {"WideTuple", WideTuple},
      {"EmptyDimensions", EmptyDimensions},
      {"HugeDimensions", HugeDimensions},
      {"EqualOperands", EqualOperands},
      {"ManyWeightsJoined", ManyWeightsJoined},
      {"OneOutputForAll", OneOutputForAll},
      {"ManySizes", ManySizes},
      {"HugeReducer", HugeReducer},
  };
}

}  // namespace meshwright::stress
