#include <algorithm>

#include "tests/conformance/op_rules_generators.h"

namespace meshwright::conformance {
namespace {

OpCase MakeCase(const std::string& opcode, const ir::Shape& operand) {
  OpCase one;
  one.op.set_opcode(opcode);
  one.operands = {{operand}};
  return one;
}

OpCase Broadcast(Draw& draw) {
  const Dims dims = draw.Sizes(draw.Between(1, 4));
  const int rank = static_cast<int>(dims.size());
  const auto kept = draw.Choose(draw.Between(0, rank), rank);
  Dims in;
  for (const int64_t dim : kept) in.push_back(dims[dim]);
  OpCase one = MakeCase("broadcast", ArrayShape(hlo::F32, in));
  for (const int64_t dim : kept) one.op.add_dimensions(dim);
  one.result = ArrayShape(hlo::F32, dims);
  return one;
}

// The factors grouped into consecutive products, with some ones between.
Dims Grouped(Draw& draw, const Dims& factors) {
  Dims dims;
  for (const int64_t factor : factors) {
    if (draw.Below(5) == 0) dims.push_back(1);
    if (dims.empty() || draw.Coin()) {
      dims.push_back(factor);
    } else {
      dims.back() *= factor;
    }
  }
  return dims;
}

std::pair<Dims, Dims> Reshaped(Draw& draw) {
  if (draw.Below(4) == 0) {
    // Groups that cross: no boundary but the outermost.
    const int64_t a = draw.small_sizes() ? 4 : 12;
    const int64_t b = draw.small_sizes() ? 6 : 18;
    return {{a, b}, {b, a}};
  }
  const Dims factors = draw.small_sizes() ? Dims{2, 3, 2, 3, 2} : Dims{6, 6, 6};
  return {Grouped(draw, factors), Grouped(draw, factors)};
}

OpCase Reshape(Draw& draw) {
  const auto [in, out] = Reshaped(draw);
  OpCase one = MakeCase("reshape", ArrayShape(hlo::F32, in));
  one.result = ArrayShape(hlo::F32, out);
  return one;
}

OpCase Bitcast(Draw& draw) {
  const auto [in, out] = Reshaped(draw);
  OpCase one = MakeCase("bitcast", ArrayShape(hlo::F32, in));
  // XLA takes bitcasts only behind its own layout assignment.
  one.equivalent = "reshape";
  one.result = ArrayShape(hlo::F32, out);
  return one;
}

OpCase BitcastConvert(Draw& draw) {
  const Dims dims = draw.Sizes(draw.Between(1, 3));
  Dims wide = dims;
  switch (draw.Below(3)) {
    case 0: {
      OpCase one = MakeCase("bitcast-convert", ArrayShape(hlo::F32, dims));
      one.result = ArrayShape(hlo::S32, dims);
      return one;
    }
    case 1: {
      OpCase one = MakeCase("bitcast-convert", ArrayShape(hlo::U32, dims));
      wide.push_back(4);
      one.result = ArrayShape(hlo::U8, wide);
      return one;
    }
    default: {
      wide.push_back(2);
      OpCase one = MakeCase("bitcast-convert", ArrayShape(hlo::U16, wide));
      one.operands[0].values = {Values::kWhole, 0, 60000};
      one.result = ArrayShape(hlo::U32, dims);
      return one;
    }
  }
}

OpCase Transpose(Draw& draw) {
  const Dims dims = draw.Sizes(draw.Between(2, 4));
  OpCase one = MakeCase("transpose", ArrayShape(hlo::F32, dims));
  Dims out;
  for (const int64_t dim : draw.Permutation(static_cast<int>(dims.size()))) {
    one.op.add_dimensions(dim);
    out.push_back(dims[dim]);
  }
  one.result = ArrayShape(hlo::F32, out);
  return one;
}

OpCase Slice(Draw& draw) {
  Dims dims = draw.Sizes(draw.Between(1, 3));
  OpCase one = MakeCase("slice", {});
  Dims out;
  for (int64_t& size : dims) {
    auto& slice = *one.op.add_slice_dimensions();
    slice.set_limit(size);
    slice.set_stride(1);
    const int kind = draw.Below(3);
    if (kind == 1) {
      // One of every run of `stride`.
      slice.set_stride(draw.Between(2, 3));
      slice.set_start(draw.Below(static_cast<int>(slice.stride())));
      out.push_back(size);
      size *= slice.stride();
      slice.set_limit(size - draw.Below(static_cast<int>(slice.stride()) -
                                        static_cast<int>(slice.start())));
      continue;
    }
    if (kind == 2) {
      // Any other; the result keeps the size that was drawn.
      slice.set_start(draw.Between(0, 6));
      slice.set_limit(slice.start() + size);
      out.push_back(size);
      size = slice.limit() + 6 - slice.start();
      continue;
    }
    out.push_back(size);
  }
  one.operands[0].shape = ArrayShape(hlo::F32, dims);
  one.result = ArrayShape(hlo::F32, out);
  return one;
}

OpCase Reverse(Draw& draw) {
  const Dims dims = draw.Sizes(3);
  OpCase one = MakeCase("reverse", ArrayShape(hlo::F32, dims));
  for (const int64_t dim : draw.Choose(draw.Between(0, 2), 3)) {
    one.op.add_dimensions(dim);
  }
  one.result = ArrayShape(hlo::F32, dims);
  return one;
}

OpCase Concatenate(Draw& draw) {
  Dims dims = draw.Sizes(2);
  const int axis = draw.Below(2);
  OpCase one;
  one.op.set_opcode("concatenate");
  one.op.add_dimensions(axis);
  Dims out = dims;
  out[axis] = 0;
  const int count = draw.Between(1, 3);
  for (int i = 0; i < count; ++i) {
    if (i > 0) dims[axis] = draw.Below(4) == 0 ? 0 : draw.Size();
    one.operands.push_back({ArrayShape(hlo::F32, dims)});
    out[axis] += dims[axis];
  }
  one.result = ArrayShape(hlo::F32, out);
  return one;
}

OpCase Pad(Draw& draw) {
  const Dims dims = draw.Sizes(draw.Between(1, 3));
  OpCase one = MakeCase("pad", ArrayShape(hlo::F32, dims));
  one.operands.push_back({ArrayShape(hlo::F32, {})});
  Dims out;
  for (const int64_t size : dims) {
    auto& pad = *one.op.mutable_padding_config()->add_dimensions();
    switch (draw.Below(5)) {
      case 0: {
        // The same around every element.
        const int interior = draw.Between(1, 2);
        const int low = draw.Between(0, interior);
        pad.set_interior_padding(interior);
        pad.set_edge_padding_low(low);
        pad.set_edge_padding_high(interior - low);
        break;
      }
      case 1:
        pad.set_edge_padding_low(draw.Between(0, 6));
        pad.set_edge_padding_high(6 - pad.edge_padding_low());
        break;
      case 2:
        pad.set_interior_padding(1);
        pad.set_edge_padding_low(-1);
        pad.set_edge_padding_high(2);
        break;
      default:
        break;
    }
    out.push_back(size + (size - 1) * pad.interior_padding() +
                  pad.edge_padding_low() + pad.edge_padding_high());
  }
  one.result = ArrayShape(hlo::F32, out);
  return one;
}

OpCase Tuple(Draw& draw) {
  const Dims dims = draw.Sizes(2);
  OpCase one = MakeCase("tuple", ArrayShape(hlo::F32, dims));
  one.operands.push_back({ArrayShape(hlo::S32, dims)});
  one.result = TupleShape({one.operands[0].shape, one.operands[1].shape});
  return one;
}

OpCase GetTupleElement(Draw& draw) {
  const Dims dims = draw.Sizes(2);
  OpCase one = MakeCase(
      "get-tuple-element",
      TupleShape({ArrayShape(hlo::F32, dims), ArrayShape(hlo::S32, dims)}));
  one.op.set_tuple_index(draw.Below(2));
  one.result = one.operands[0].shape.elements[one.op.tuple_index()];
  return one;
}

}  // namespace

std::vector<OpGenerator> MovementGenerators() {
  return {
      {"broadcast", Broadcast},
      {"reshape", Reshape, 16},
      {"bitcast", Bitcast, 8},
      {"bitcast-convert", BitcastConvert, 12},
      {"transpose", Transpose},
      {"slice", Slice, 12},
      {"reverse", Reverse},
      {"concatenate", Concatenate, 10},
      {"pad", Pad, 12},
      {"tuple", Tuple, 4},
      {"get-tuple-element", GetTupleElement, 4},
  };
}

}  // namespace meshwright::conformance
