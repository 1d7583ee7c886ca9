#include "coordinator/ir/links/contraction_dims.h"

#include <algorithm>

namespace meshwright::ir {
namespace {

DotDims MakeConvolutionDims(const Module& module, ValueId convolution) {
  const Instruction& it = module.at(convolution);
  const auto& numbers = it.attributes().convolution_dimension_numbers();
  const int batch = static_cast<int>(numbers.input_batch_dimension());
  const int features = static_cast<int>(numbers.input_feature_dimension());
  const int in = static_cast<int>(numbers.kernel_input_feature_dimension());
  const int out = static_cast<int>(numbers.kernel_output_feature_dimension());
  const int to_batch = static_cast<int>(numbers.output_batch_dimension());
  const int to_features = static_cast<int>(numbers.output_feature_dimension());
  const int64_t groups = std::max(it.attributes().feature_group_count(),
                                  it.attributes().batch_group_count());
  DotDims dims;
  for (auto& side : dims.side) side.resize(it.shape.rank());
  for (int i = 0; i < numbers.input_spatial_dimensions_size(); ++i) {
    const int left = static_cast<int>(numbers.input_spatial_dimensions(i));
    const int right = static_cast<int>(numbers.kernel_spatial_dimensions(i));
    const int to = static_cast<int>(numbers.output_spatial_dimensions(i));
    dims.side[0][left] = {DotRole::kSpatial, right, to};
    dims.side[1][right] = {DotRole::kSpatial, left, to};
  }
  dims.side[0][batch] = {DotRole::kFree, std::nullopt, to_batch};
  dims.side[0][features] = {DotRole::kContracting, in, std::nullopt};
  dims.side[1][in] = {DotRole::kContracting, features, std::nullopt};
  dims.side[1][out] = {DotRole::kFree, std::nullopt, to_features};
  if (groups > 1) {
    const bool of_features = it.attributes().feature_group_count() > 1;
    const int grouped = of_features ? features : batch;
    dims.side[0][grouped] = {DotRole::kBatch, out, to_features, groups};
    dims.side[1][out] = {DotRole::kBatch, grouped, to_features, groups};
    if (of_features) dims.side[1][in].partner.reset();
  }
  return dims;
}

}  // namespace

bool IsContraction(const Module& module, ValueId id) {
  const Instruction& it = module.at(id);
  if (it.opcode == Opcode::kDot) {
    return it.attributes()
               .dot_dimension_numbers()
               .lhs_contracting_dimensions_size() > 0;
  }
  if (it.opcode != Opcode::kConvolution) return false;
  if (it.attributes().feature_group_count() <= 1) return true;
  // With groups of one feature and windows of one element it only scales.
  const Shape& kernel = module.at(it.operands[1]).shape;
  const auto& numbers = it.attributes().convolution_dimension_numbers();
  return kernel.element_count() >
         kernel.dims[numbers.kernel_output_feature_dimension()];
}

DotDims GetDotDims(const Module& module, ValueId dot) {
  const Instruction& it = module.at(dot);
  return *MakeDotDims(it.attributes().dot_dimension_numbers(),
                      module.at(it.operands[0]).shape,
                      module.at(it.operands[1]).shape);
}

DotDims GetContractionDims(const Module& module, ValueId contraction) {
  return module.at(contraction).opcode == Opcode::kDot
             ? GetDotDims(module, contraction)
             : MakeConvolutionDims(module, contraction);
}

std::vector<ContractedPair> FindContractedDims(const Module& module,
                                               ValueId id) {
  if (module.at(id).opcode != Opcode::kDot &&
      module.at(id).opcode != Opcode::kConvolution) {
    return {};
  }
  std::vector<ContractedPair> pairs;
  const DotDims dims = GetContractionDims(module, id);
  for (int i = 0; i < static_cast<int>(dims.side[0].size()); ++i) {
    const DotDims::Dim& dim = dims.side[0][i];
    if (dim.role == DotRole::kContracting) pairs.push_back({i, *dim.partner});
  }
  return pairs;
}

}  // namespace meshwright::ir
