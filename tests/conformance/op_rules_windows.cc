#include <algorithm>

#include "tests/conformance/op_rules_generators.h"

namespace meshwright::conformance {
namespace {

constexpr int64_t kMaxWindowElements = 4000;

struct WindowedDim {
  hlo::WindowDimension window;
  int64_t in = 0;
  int64_t out = 0;
};

hlo::WindowDimension Window(int64_t size, int64_t stride, int64_t low,
                            int64_t high) {
  hlo::WindowDimension window;
  window.set_size(size);
  window.set_stride(stride);
  window.set_padding_low(low);
  window.set_padding_high(high);
  window.set_window_dilation(1);
  window.set_base_dilation(1);
  return window;
}

// One after the other, with a gap where the stride is larger.
WindowedDim Patches(Draw& draw) {
  WindowedDim dim;
  const int size = draw.Between(1, 3);
  const int stride = draw.Between(size, 3);
  dim.out = draw.Size();
  dim.in = dim.out * stride;
  const int skipped = draw.Between(0, stride - size);
  dim.window = Window(size, stride, -skipped, draw.Below(2) * skipped);
  return dim;
}

// The transpose of patches: windows over a base with holes.
WindowedDim SpreadPatches(Draw& draw) {
  WindowedDim dim;
  const int base = draw.Between(2, 3);
  const int size = draw.Between(1, base);
  const int low = draw.Between(size - 1, base - 1);
  dim.in = draw.Size();
  dim.out = dim.in * base;
  dim.window = Window(size, 1, low, base + size - 2 - low);
  dim.window.set_base_dilation(base);
  return dim;
}

WindowedDim Overlapping(Draw& draw) {
  WindowedDim dim;
  while (dim.out < 1) {
    dim.in = draw.LargeSize();
    dim.window = Window(draw.Between(2, 3), draw.Between(1, 2),
                        draw.Between(0, 2), draw.Between(0, 2));
    dim.window.set_window_dilation(draw.Between(1, 2));
    const int64_t span =
        (dim.window.size() - 1) * dim.window.window_dilation() + 1;
    const int64_t padded =
        dim.in + dim.window.padding_low() + dim.window.padding_high();
    dim.out = padded < span ? 0 : (padded - span) / dim.window.stride() + 1;
  }
  return dim;
}

WindowedDim DrawWindow(Draw& draw, bool spread) {
  switch (draw.Below(5)) {
    case 0: {
      const int64_t size = draw.Size();
      return {Window(1, 1, 0, 0), size, size};
    }
    case 1:
      return Patches(draw);
    case 2: {
      const int64_t size = draw.Size();
      return {Window(3, 1, 1, 1), size, size};
    }
    case 3:
      return spread ? SpreadPatches(draw) : Patches(draw);
    default:
      return Overlapping(draw);
  }
}

std::vector<WindowedDim> DrawWindows(Draw& draw, int count, bool spread) {
  while (true) {
    std::vector<WindowedDim> dims;
    int64_t in = 1;
    int64_t out = 1;
    for (int i = 0; i < count; ++i) {
      dims.push_back(DrawWindow(draw, spread));
      in *= dims.back().in;
      out *= dims.back().out;
    }
    if (in <= kMaxWindowElements && out <= kMaxWindowElements) return dims;
  }
}

OpCase DrawConvolution(Draw& draw) {
  OpCase one;
  one.op.set_opcode("convolution");
  int64_t batch = draw.Size();
  int64_t in_features = draw.Size();
  int64_t kernel_features = in_features;
  int64_t features = draw.Size();
  int64_t out_batch = batch;
  const int64_t groups = draw.LargeSize();
  one.op.set_feature_group_count(1);
  one.op.set_batch_group_count(1);
  switch (draw.Below(4)) {
    case 0:
      one.op.set_feature_group_count(groups);
      kernel_features = draw.Between(1, 2);
      in_features = groups * kernel_features;
      features = groups * draw.Between(1, 2);
      break;
    case 1:
      one.op.set_batch_group_count(groups);
      out_batch = draw.Between(1, 2);
      batch = groups * out_batch;
      features = groups * draw.Between(1, 2);
      break;
    default:
      break;
  }
  const int spatial = draw.Between(0, 2);
  const int rank = spatial + 2;
  const auto windows = DrawWindows(draw, spatial, /*spread=*/true);
  const auto left = draw.Permutation(rank);
  const auto right = draw.Permutation(rank);
  const auto out = draw.Permutation(rank);
  auto& numbers = *one.op.mutable_convolution_dimension_numbers();
  numbers.set_input_batch_dimension(left[0]);
  numbers.set_input_feature_dimension(left[1]);
  numbers.set_kernel_input_feature_dimension(right[0]);
  numbers.set_kernel_output_feature_dimension(right[1]);
  numbers.set_output_batch_dimension(out[0]);
  numbers.set_output_feature_dimension(out[1]);
  Dims left_dims(rank);
  Dims right_dims(rank);
  Dims out_dims(rank);
  left_dims[left[0]] = batch;
  left_dims[left[1]] = in_features;
  right_dims[right[0]] = kernel_features;
  right_dims[right[1]] = features;
  out_dims[out[0]] = out_batch;
  out_dims[out[1]] = features;
  one.op.mutable_window();
  for (int i = 0; i < spatial; ++i) {
    *one.op.mutable_window()->add_dimensions() = windows[i].window;
    numbers.add_input_spatial_dimensions(left[i + 2]);
    numbers.add_kernel_spatial_dimensions(right[i + 2]);
    numbers.add_output_spatial_dimensions(out[i + 2]);
    left_dims[left[i + 2]] = windows[i].in;
    right_dims[right[i + 2]] = windows[i].window.size();
    out_dims[out[i + 2]] = windows[i].out;
  }
  one.operands = {{ArrayShape(hlo::F32, left_dims)},
                  {ArrayShape(hlo::F32, right_dims)}};
  one.result = ArrayShape(hlo::F32, out_dims);
  return one;
}

OpCase Convolution(Draw& draw) {
  while (true) {
    OpCase one = DrawConvolution(draw);
    const bool small = one.result.element_count() <= kMaxWindowElements &&
                       std::all_of(one.operands.begin(), one.operands.end(),
                                   [](const Operand& operand) {
                                     return operand.shape.element_count() <=
                                            kMaxWindowElements;
                                   });
    if (small) return one;
  }
}

OpCase ReduceWindow(Draw& draw) {
  OpCase one;
  one.op.set_opcode("reduce-window");
  auto dims = DrawWindows(draw, draw.Between(1, 3), /*spread=*/true);
  if (draw.Coin()) {
    // A running sum.
    const int64_t size = draw.Size();
    dims[0] = {Window(size, 1, size - 1, 0), size, size};
  }
  Dims in;
  Dims out;
  for (const WindowedDim& dim : dims) {
    *one.op.mutable_window()->add_dimensions() = dim.window;
    in.push_back(dim.in);
    out.push_back(dim.out);
  }
  const ir::Shape array = ArrayShape(hlo::F32, in);
  const ir::Shape scalar = ArrayShape(hlo::F32, {});
  const ir::Shape result = ArrayShape(hlo::F32, out);
  if (draw.Coin()) {
    one.operands = {{array}, {scalar, {Values::kWhole, 0, 0}}};
    one.result = result;
    one.callees = {{"add", {hlo::F32, hlo::F32}}};
  } else {
    one.operands = {{array},
                    {array},
                    {scalar, {Values::kWhole, -9, -9}},
                    {scalar, {Values::kWhole, 0, 0}}};
    one.result = TupleShape({result, result});
    one.callees = {{"max-and-sum", {hlo::F32, hlo::F32, hlo::F32, hlo::F32}}};
  }
  return one;
}

OpCase SelectAndScatter(Draw& draw) {
  OpCase one;
  one.op.set_opcode("select-and-scatter");
  Dims in;
  Dims out;
  for (WindowedDim& dim :
       DrawWindows(draw, draw.Between(1, 3), /*spread=*/false)) {
    if (dim.window.window_dilation() > 1 || dim.window.padding_low() < 0) {
      // Neither is part of this operation.
      dim = {Window(2, 2, 0, 0), 2 * dim.out, dim.out};
    }
    *one.op.mutable_window()->add_dimensions() = dim.window;
    in.push_back(dim.in);
    out.push_back(dim.out);
  }
  one.operands = {{ArrayShape(hlo::F32, in), {Values::kReal, -8, 8}},
                  {ArrayShape(hlo::F32, out)},
                  {ArrayShape(hlo::F32, {}), {Values::kWhole, 0, 0}}};
  one.result = ArrayShape(hlo::F32, in);
  one.callees = {{"at-least", {hlo::F32, hlo::F32}},
                 {"add", {hlo::F32, hlo::F32}}};
  return one;
}

}  // namespace

std::vector<OpGenerator> WindowGenerators() {
  return {{"convolution", Convolution, 24},
          {"reduce-window", ReduceWindow, 14},
          {"select-and-scatter", SelectAndScatter, 8}};
}

}  // namespace meshwright::conformance
