#include "coordinator/ir/dim_links.h"

#include <algorithm>

namespace meshwright::ir {
namespace {

template <typename Repeated>
bool Contains(const Repeated& values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::vector<DimLink> Identity(int rank) {
  std::vector<DimLink> links;
  for (int i = 0; i < rank; ++i) links.push_back({i, i});
  return links;
}

// Dimensions whose size does not change between operand and output.
std::vector<DimLink> SameSize(const Shape& in, const Shape& out) {
  std::vector<DimLink> links;
  for (int i = 0; i < std::min(in.rank(), out.rank()); ++i) {
    if (in.dims[i] == out.dims[i]) links.push_back({i, i});
  }
  return links;
}

std::vector<DimLink> DotLinks(const Module& module, ValueId user, int operand) {
  std::vector<DimLink> links;
  const DotDims dims = DotDimsOf(module, user);
  for (size_t i = 0; i < dims.side[operand].size(); ++i) {
    const int output = dims.side[operand][i].output;
    if (output >= 0) links.push_back({static_cast<int>(i), output});
  }
  return links;
}

std::vector<DimLink> ConvolutionLinks(const Instruction& it, int operand) {
  const auto& numbers = it.attributes().convolution_dimension_numbers();
  const bool grouped = it.attributes().feature_group_count() > 1 ||
                       it.attributes().batch_group_count() > 1;
  const int rank = it.shape.rank();
  const auto valid = [&](int64_t dim) { return dim >= 0 && dim < rank; };
  if (grouped || !valid(numbers.output_batch_dimension()) ||
      !valid(numbers.output_feature_dimension()) ||
      !valid(numbers.input_batch_dimension()) ||
      !valid(numbers.kernel_output_feature_dimension())) {
    return {};
  }
  if (operand == 0) {
    return {{static_cast<int>(numbers.input_batch_dimension()),
             static_cast<int>(numbers.output_batch_dimension())}};
  }
  return {{static_cast<int>(numbers.kernel_output_feature_dimension()),
           static_cast<int>(numbers.output_feature_dimension())}};
}

std::vector<DimLink> GatherLinks(const Module& module, const Instruction& it,
                                 int operand) {
  const auto& numbers = it.attributes().gather_dimension_numbers();
  std::vector<DimLink> links;
  if (operand == 0) {
    int offset = 0;
    const Shape& in = module.at(it.operands[0]).shape;
    for (int dim = 0; dim < in.rank(); ++dim) {
      if (Contains(numbers.collapsed_slice_dims(), dim) ||
          Contains(numbers.operand_batching_dims(), dim)) {
        continue;
      }
      const int out = numbers.offset_dims(offset++);
      if (it.attributes().gather_slice_sizes(dim) == in.dims[dim]) {
        links.push_back({dim, out});
      }
    }
    return links;
  }
  const int index_rank = module.at(it.operands[1]).shape.rank();
  int out = 0;
  for (int dim = 0; dim < index_rank; ++dim) {
    if (dim == numbers.index_vector_dim()) continue;
    while (Contains(numbers.offset_dims(), out)) ++out;
    links.push_back({dim, out++});
  }
  return links;
}

std::vector<DimLink> ScatterLinks(const Module& module, const Instruction& it,
                                  int operand) {
  const int inputs = static_cast<int>(it.operands.size()) / 2;
  const Shape& target = module.at(it.operands[0]).shape;
  if (operand < inputs) return Identity(target.rank());
  if (operand == inputs) return {};
  const auto& numbers = it.attributes().scatter_dimension_numbers();
  const Shape& updates = module.at(it.operands[operand]).shape;
  std::vector<DimLink> links;
  int window = 0;
  for (int dim = 0; dim < target.rank(); ++dim) {
    if (Contains(numbers.inserted_window_dims(), dim) ||
        Contains(numbers.input_batching_dims(), dim)) {
      continue;
    }
    const int in = static_cast<int>(numbers.update_window_dims(window++));
    if (updates.dims[in] == target.dims[dim]) links.push_back({in, dim});
  }
  return links;
}

std::vector<DimLink> ReduceWindowLinks(const Instruction& it, int operand) {
  if (operand >= static_cast<int>(it.operands.size()) / 2) return {};
  std::vector<DimLink> links;
  const auto& windows = it.attributes().window().dimensions();
  for (int dim = 0; dim < windows.size(); ++dim) {
    const hlo::WindowDimension& window = windows[dim];
    if (window.size() == 1 && window.stride() <= 1 &&
        window.padding_low() == 0 && window.padding_high() == 0 &&
        window.base_dilation() <= 1) {
      links.push_back({dim, dim});
    }
  }
  return links;
}

}  // namespace

const std::vector<int64_t>* UniformDims(const Shape& shape) {
  if (!shape.is_tuple()) return &shape.dims;
  if (shape.elements.empty()) return nullptr;
  for (const Shape& element : shape.elements) {
    if (element.is_tuple() || element.dims != shape.elements[0].dims) {
      return nullptr;
    }
  }
  return &shape.elements[0].dims;
}

std::vector<DimLink> ReshapeLinks(const std::vector<int64_t>& in,
                                  const std::vector<int64_t>& out) {
  std::vector<DimLink> links;
  size_t i = 0;
  size_t j = 0;
  while (true) {
    while (i < in.size() && in[i] == 1) ++i;
    while (j < out.size() && out[j] == 1) ++j;
    if (i >= in.size() || j >= out.size()) break;
    links.push_back({static_cast<int>(i), static_cast<int>(j)});
    int64_t left = in[i++];
    int64_t right = out[j++];
    while (left != right) {
      if (left < right) {
        if (i >= in.size()) return links;
        left *= in[i++];
      } else {
        if (j >= out.size()) return links;
        right *= out[j++];
      }
    }
  }
  return links;
}

DotDims DotDimsOf(const Module& module, ValueId dot) {
  const Instruction& it = module.at(dot);
  return *MakeDotDims(it.attributes().dot_dimension_numbers(),
                      module.at(it.operands[0]).shape,
                      module.at(it.operands[1]).shape);
}

bool IsContraction(const Module& module, ValueId id) {
  const Instruction& it = module.at(id);
  if (it.opcode == Opcode::kConvolution) return it.operands.size() == 2;
  return it.opcode == Opcode::kDot &&
         it.attributes()
                 .dot_dimension_numbers()
                 .lhs_contracting_dimensions_size() > 0;
}

std::vector<DimLink> DimLinks(const Module& module, ValueId user, int operand) {
  const Instruction& it = module.at(user);
  const Instruction& source = module.at(it.operands[operand]);
  const std::vector<int64_t>* in = UniformDims(source.shape);
  const std::vector<int64_t>* out = UniformDims(it.shape);
  if (in == nullptr || out == nullptr) return {};
  switch (it.opcode) {
    case Opcode::kElementwise:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kSelect:
    case Opcode::kOptimizationBarrier:
    case Opcode::kGetTupleElement:
      return *in == *out ? Identity(static_cast<int>(in->size()))
                         : std::vector<DimLink>{};
    case Opcode::kReshape:
    case Opcode::kBitcast:
      return ReshapeLinks(*in, *out);
    case Opcode::kBroadcast: {
      std::vector<DimLink> links;
      for (int i = 0; i < it.attributes().dimensions_size(); ++i) {
        links.push_back({i, static_cast<int>(it.attributes().dimensions(i))});
      }
      return links;
    }
    case Opcode::kTranspose: {
      std::vector<DimLink> links;
      for (int i = 0; i < it.attributes().dimensions_size(); ++i) {
        links.push_back({static_cast<int>(it.attributes().dimensions(i)), i});
      }
      return links;
    }
    case Opcode::kReduce: {
      if (operand >= static_cast<int>(it.operands.size()) / 2) return {};
      std::vector<DimLink> links;
      int next = 0;
      for (int i = 0; i < static_cast<int>(in->size()); ++i) {
        if (!Contains(it.attributes().dimensions(), i))
          links.push_back({i, next++});
      }
      return links;
    }
    case Opcode::kDot:
      return DotLinks(module, user, operand);
    case Opcode::kConvolution:
      return ConvolutionLinks(it, operand);
    case Opcode::kSlice: {
      std::vector<DimLink> links;
      for (int i = 0; i < static_cast<int>(in->size()); ++i) {
        if ((*in)[i] == (*out)[i]) links.push_back({i, i});
      }
      return links;
    }
    case Opcode::kConcatenate:
    case Opcode::kReverse: {
      std::vector<DimLink> links;
      for (int i = 0; i < static_cast<int>(in->size()); ++i) {
        if (!Contains(it.attributes().dimensions(), i)) links.push_back({i, i});
      }
      return links;
    }
    case Opcode::kPad: {
      if (operand != 0) return {};
      std::vector<DimLink> links;
      for (int i = 0; i < static_cast<int>(in->size()); ++i) {
        const auto& pad = it.attributes().padding_config().dimensions(i);
        if (pad.edge_padding_low() == 0 && pad.edge_padding_high() == 0 &&
            pad.interior_padding() == 0) {
          links.push_back({i, i});
        }
      }
      return links;
    }
    case Opcode::kDynamicSlice:
      return operand == 0 ? SameSize(source.shape, it.shape)
                          : std::vector<DimLink>{};
    case Opcode::kDynamicUpdateSlice:
      return operand <= 1 ? SameSize(module.at(it.operands[1]).shape, it.shape)
                          : std::vector<DimLink>{};
    case Opcode::kGather:
      return GatherLinks(module, it, operand);
    case Opcode::kScatter:
      return ScatterLinks(module, it, operand);
    case Opcode::kSort: {
      if (*in != *out) return {};
      std::vector<DimLink> links = Identity(static_cast<int>(in->size()));
      std::erase_if(links, [&](const DimLink& link) {
        return Contains(it.attributes().dimensions(), link.in);
      });
      return links;
    }
    case Opcode::kTopK: {
      std::vector<DimLink> links = SameSize(source.shape, it.shape);
      std::erase_if(links, [&](const DimLink& link) {
        return link.in + 1 == source.shape.rank();
      });
      return links;
    }
    case Opcode::kReduceWindow:
      return ReduceWindowLinks(it, operand);
    default:
      return {};
  }
}

}  // namespace meshwright::ir
