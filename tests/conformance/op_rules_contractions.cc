#include <algorithm>

#include "tests/conformance/op_rules_generators.h"

namespace meshwright::conformance {
namespace {

// One side of a dot in some order of its dimensions.
struct Side {
  Dims dims;
  std::vector<int64_t> batch;
  std::vector<int64_t> contracting;
};

Side DrawSide(Draw& draw, const Dims& batch, const Dims& contracting,
              const Dims& free) {
  Dims sizes = batch;
  sizes.insert(sizes.end(), contracting.begin(), contracting.end());
  sizes.insert(sizes.end(), free.begin(), free.end());
  // Free dimensions stay in order: it is the order of the result.
  const int rank = static_cast<int>(sizes.size());
  const int paired = static_cast<int>(batch.size() + contracting.size());
  auto places = draw.Permutation(rank);
  std::sort(places.begin() + paired, places.end());
  Side side;
  side.dims.resize(rank);
  for (int i = 0; i < rank; ++i) side.dims[places[i]] = sizes[i];
  side.batch.assign(places.begin(),
                    places.begin() + static_cast<int>(batch.size()));
  side.contracting.assign(places.begin() + static_cast<int>(batch.size()),
                          places.begin() + paired);
  return side;
}

OpCase Dot(Draw& draw) {
  const Dims batch = draw.Sizes(draw.Between(0, 2));
  const Dims contracting = draw.Sizes(draw.Between(1, 2));
  const Dims free[2] = {draw.Sizes(draw.Between(0, 1)),
                        draw.Sizes(draw.Between(0, 1))};
  OpCase one;
  one.op.set_opcode("dot");
  auto& numbers = *one.op.mutable_dot_dimension_numbers();
  Dims out = batch;
  for (int s = 0; s < 2; ++s) {
    const Side side = DrawSide(draw, batch, contracting, free[s]);
    one.operands.push_back({ArrayShape(hlo::F32, side.dims)});
    out.insert(out.end(), free[s].begin(), free[s].end());
    for (const int64_t dim : side.batch) {
      s == 0 ? numbers.add_lhs_batch_dimensions(dim)
             : numbers.add_rhs_batch_dimensions(dim);
    }
    for (const int64_t dim : side.contracting) {
      s == 0 ? numbers.add_lhs_contracting_dimensions(dim)
             : numbers.add_rhs_contracting_dimensions(dim);
    }
  }
  one.result = ArrayShape(hlo::F32, out);
  return one;
}

OpCase SmallDot(Draw& draw) {
  while (true) {
    OpCase one = Dot(draw);
    if (one.result.element_count() <= 3000) return one;
  }
}

OpCase Reduce(Draw& draw) {
  const Dims dims = draw.Sizes(3);
  OpCase one;
  one.op.set_opcode("reduce");
  const auto reduced = draw.Choose(draw.Between(0, 2), 3);
  for (const int64_t dim : reduced) one.op.add_dimensions(dim);
  Dims out;
  for (int dim = 0; dim < 3; ++dim) {
    if (std::find(reduced.begin(), reduced.end(), dim) == reduced.end()) {
      out.push_back(dims[dim]);
    }
  }
  const Operand array = {ArrayShape(hlo::F32, dims)};
  const Operand zero = {ArrayShape(hlo::F32, {}), {Values::kWhole, 0, 0}};
  const Operand lowest = {ArrayShape(hlo::F32, {}), {Values::kWhole, -9, -9}};
  const ir::Shape result = ArrayShape(hlo::F32, out);
  if (draw.Coin()) {
    one.operands = {array, zero};
    one.result = result;
    one.callees = {{"add", {hlo::F32, hlo::F32}}};
  } else {
    one.operands = {array, array, lowest, zero};
    one.result = TupleShape({result, result});
    one.callees = {{"max-and-sum", {hlo::F32, hlo::F32, hlo::F32, hlo::F32}}};
  }
  return one;
}

}  // namespace

std::vector<OpGenerator> ContractionGenerators() {
  return {{"dot", SmallDot, 14}, {"reduce", Reduce, 12}};
}

}  // namespace meshwright::conformance
