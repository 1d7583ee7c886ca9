#include <algorithm>

#include "tests/stress/parts.h"

namespace meshwright::stress {
namespace {

hlo::HloModuleProto LongChain(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = builder.Dot(w, w, kSide, kSide);
  for (int i = 0; i < size; ++i) {
    value = builder.Op("negate", Square(), {value});
  }
  return FinishStep(builder, w, value);
}

hlo::HloModuleProto ChainOfSums(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = builder.Dot(w, w, kSide, kSide);
  for (int i = 0; i < size; ++i) {
    value = builder.Op("add", Square(), {value, i % 2 == 0 ? w : value});
  }
  return FinishStep(builder, w, value);
}

hlo::HloModuleProto DeepRoots(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id value = w;
  for (int i = 0; i < size / 2; ++i) {
    const Id dot = builder.Dot(value, w, kSide, kSide);
    value = builder.Op("add", Square(), {value, dot});
  }
  return FinishStep(builder, w, value);
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
  return FinishStep(builder, w, value);
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
  return FinishStep(builder, w, sum);
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
  return FinishStep(builder, w, call.id());
}

hlo::HloModuleProto CallsDouble(int) { return Calls(60, 2); }

hlo::HloModuleProto CallsNest(int size) { return Calls(size, 1); }

// Values that every segment computes for itself, as large as all together.
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
  return FinishStep(builder, w, value);
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
  return FinishStep(builder, w, values.back());
}

// A weight behind conversions, which a sharded one may be gathered behind.
hlo::HloModuleProto ConvertChain(int size) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  const Id x = builder.Parameter(Square());
  Id value = w;
  for (int i = 0; i < size; ++i) {
    value = builder.Op("convert", Square(), {value});
  }
  const Id dot = builder.Dot(x, value, kSide, kSide);
  const Id loss = builder.Sum(dot, 2);
  const Id gradient = builder.Op("tanh", Square(), {dot});
  const Id dw = WeightGradient(builder, x, gradient);
  const Id next = builder.Op("subtract", Square(), {w, dw});
  return builder.Finish({next, loss}, 1);
}

}  // namespace

std::vector<StressModule> DeepModules() {
  return {
      {"LongChain", LongChain},         {"ChainOfSums", ChainOfSums},
      {"DeepRoots", DeepRoots},         {"DistinctBlocks", DistinctBlocks},
      {"LayoutsInARow", LayoutsInARow}, {"CallsDouble", CallsDouble},
      {"CallsNest", CallsNest},         {"SharedByAll", SharedByAll},
      {"LongSkips", LongSkips},         {"ConvertChain", ConvertChain},
  };
}

}  // namespace meshwright::stress
