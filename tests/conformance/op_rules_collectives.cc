#include "tests/conformance/op_rules_generators.h"

namespace meshwright::conformance {
namespace {

constexpr int kDevices = 2;

OpCase MakeCase(const std::string& opcode) {
  OpCase one;
  one.op.set_opcode(opcode);
  one.replicas = kDevices;
  auto& group = *one.op.add_replica_groups();
  for (int device = 0; device < kDevices; ++device) {
    group.add_replica_ids(device);
  }
  return one;
}

OpCase AllReduce(Draw& draw) {
  OpCase one = MakeCase("all-reduce");
  const ir::Shape shape = ArrayShape(hlo::F32, draw.Sizes(2));
  one.callees = {{"add", {hlo::F32, hlo::F32}}};
  one.operands = {{shape}};
  one.result = shape;
  if (draw.Coin()) {
    one.operands.push_back({shape});
    one.result = TupleShape({shape, shape});
  }
  return one;
}

OpCase AllGather(Draw& draw) {
  OpCase one = MakeCase("all-gather");
  Dims dims = draw.Sizes(2);
  const int dim = draw.Below(2);
  one.op.add_dimensions(dim);
  one.operands = {{ArrayShape(hlo::F32, dims)}};
  dims[dim] *= kDevices;
  one.result = ArrayShape(hlo::F32, dims);
  return one;
}

OpCase ReduceScatter(Draw& draw) {
  OpCase one = MakeCase("reduce-scatter");
  Dims dims = draw.Sizes(2);
  const int dim = draw.Below(2);
  one.op.add_dimensions(dim);
  one.result = ArrayShape(hlo::F32, dims);
  dims[dim] *= kDevices;
  one.operands = {{ArrayShape(hlo::F32, dims)}};
  one.callees = {{"add", {hlo::F32, hlo::F32}}};
  return one;
}

OpCase AllToAll(Draw& draw) {
  OpCase one = MakeCase("all-to-all");
  Dims dims = draw.Sizes(2);
  if (draw.Coin()) {
    const int dim = draw.Below(2);
    one.op.add_dimensions(dim);
    dims[dim] *= kDevices;
    one.operands = {{ArrayShape(hlo::F32, dims)}};
    one.result = one.operands[0].shape;
  } else {
    // One array for every device.
    const ir::Shape shape = ArrayShape(hlo::F32, dims);
    one.operands = {{shape}, {shape}};
    one.result = TupleShape({shape, shape});
  }
  return one;
}

OpCase CollectivePermute(Draw& draw) {
  OpCase one = MakeCase("collective-permute");
  one.op.clear_replica_groups();
  const ir::Shape shape = ArrayShape(hlo::F32, draw.Sizes(2));
  for (int device = 0; device < kDevices; ++device) {
    auto& pair = *one.op.add_source_target_pairs();
    pair.set_source(device);
    pair.set_target((device + 1) % kDevices);
  }
  one.operands = {{shape}};
  one.result = shape;
  return one;
}

OpCase CollectiveBroadcast(Draw& draw) {
  OpCase one = MakeCase("collective-broadcast");
  const ir::Shape shape = ArrayShape(hlo::F32, draw.Sizes(2));
  one.operands = {{shape}};
  one.result = shape;
  return one;
}

}  // namespace

std::vector<OpGenerator> CollectiveGenerators() {
  return {{"all-reduce", AllReduce, 4},
          {"all-gather", AllGather, 4},
          {"reduce-scatter", ReduceScatter, 4},
          {"all-to-all", AllToAll, 4},
          {"collective-permute", CollectivePermute, 2},
          {"collective-broadcast", CollectiveBroadcast, 2, /*on_cpu=*/false}};
}

}  // namespace meshwright::conformance
