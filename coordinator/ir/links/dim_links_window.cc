#include <algorithm>

#include "coordinator/ir/links/dim_links_rules.h"

namespace meshwright::ir {
namespace {

// Whether windows that make `out` elements of `in` stay apart.
bool WindowsStayApart(const hlo::WindowDimension& window, int64_t in,
                      int64_t out) {
  using Wide = __int128;  // attributes are any 64-bit numbers
  const Wide stride = std::max<int64_t>(window.stride(), 1);
  const Wide base = std::max<int64_t>(window.base_dilation(), 1);
  const Wide low = window.padding_low();
  const Wide span = static_cast<Wide>(window.size() - 1) *
                        std::max<int64_t>(window.window_dilation(), 1) +
                    1;
  if (window.size() < 1) return false;
  // Window o covers [o * stride - low, o * stride - low + span).
  if (base == 1) {
    return in == out * stride && low <= 0 && span - low <= stride;
  }
  // Element i lies at i * base + low and meets the windows of the span before.
  return stride == 1 && out == in * base && low >= span - 1 && low < base;
}

// Links dimension d to d for every d whose windows stay apart.
std::vector<DimLink> ApartLinks(const Instruction& it,
                                const std::vector<int64_t>& in,
                                const std::vector<int64_t>& out) {
  std::vector<DimLink> links;
  const auto& windows = it.attributes().window().dimensions();
  for (int dim = 0; dim < windows.size(); ++dim) {
    if (WindowsStayApart(windows[dim], in[dim], out[dim])) {
      links.push_back({dim, dim});
    }
  }
  return links;
}

}  // namespace

std::vector<DimLink> FindConvolutionLinks(const Module& module,
                                          const Instruction& it, int operand) {
  const auto& numbers = it.attributes().convolution_dimension_numbers();
  const int64_t feature_groups = it.attributes().feature_group_count();
  const int64_t batch_groups = it.attributes().batch_group_count();
  const int64_t groups = std::max(feature_groups, batch_groups);
  const int features = static_cast<int>(numbers.output_feature_dimension());
  std::vector<DimLink> links;
  if (operand == 1) {
    links.push_back(
        {static_cast<int>(numbers.kernel_output_feature_dimension()), features,
         groups > 1 ? groups : 0});
    return links;
  }
  const int batch = static_cast<int>(numbers.input_batch_dimension());
  if (batch_groups <= 1) {
    links.push_back(
        {batch, static_cast<int>(numbers.output_batch_dimension())});
  }
  const std::vector<int64_t>& in = module.at(it.operands[0]).shape.dims;
  for (int i = 0; i < numbers.input_spatial_dimensions_size(); ++i) {
    const int from = static_cast<int>(numbers.input_spatial_dimensions(i));
    const int to = static_cast<int>(numbers.output_spatial_dimensions(i));
    if (WindowsStayApart(it.attributes().window().dimensions(i), in[from],
                         it.shape.dims[to])) {
      links.push_back({from, to});
    }
  }
  if (feature_groups > 1) {
    links.push_back({static_cast<int>(numbers.input_feature_dimension()),
                     features, feature_groups});
  } else if (batch_groups > 1) {
    links.push_back({batch, features, batch_groups});
  }
  return links;
}

std::vector<DimLink> FindReduceWindowLinks(const Module& module,
                                           const Instruction& it, int operand) {
  if (operand >= static_cast<int>(it.operands.size()) / 2) return {};
  return ApartLinks(it, module.at(it.operands[operand]).shape.dims,
                    *CollectUniformDims(it.shape));
}

std::vector<DimLink> FindSelectAndScatterLinks(const Module& module,
                                               const Instruction& it,
                                               int operand) {
  if (operand > 1) return {};
  // Every window of the operand picks the place of one element of the source,
  // so that parts of both hold whole windows.
  const std::vector<int64_t>& source = module.at(it.operands[1]).shape.dims;
  std::vector<DimLink> links = ApartLinks(it, it.shape.dims, source);
  for (DimLink& link : links) {
    if (source[link.out] != it.shape.dims[link.out]) {
      link.groups = source[link.out];
    }
  }
  return links;
}

}  // namespace meshwright::ir
