#include "coordinator/ir/checks/op_checks.h"

#include <algorithm>

#include "coordinator/ir/shape.h"

namespace meshwright::ir {
namespace {

const Shape& OperandShape(const Module& module, const Instruction& it,
                          size_t index) {
  return module.at(it.operands[index]).shape;
}

// The sizes of the indices' dimensions that count slices.
std::vector<int64_t> SliceCounts(const Shape& indices,
                                 int64_t index_vector_dim) {
  std::vector<int64_t> sizes = indices.dims;
  if (index_vector_dim < indices.rank()) {
    sizes.erase(sizes.begin() + index_vector_dim);
  }
  return sizes;
}

// The batching dimensions of a gathered or scattered array and of its indices
// are as large, and the indices' own dimension is none of them.
template <typename Repeated>
bool BatchingFits(const Shape& array, const Repeated& batching,
                  const Shape& indices, const Repeated& index_batching,
                  int64_t index_vector_dim) {
  if (!AreDistinctInRange(batching, array.rank()) ||
      !AreDistinctInRange(index_batching, indices.rank()) ||
      batching.size() != index_batching.size() || index_vector_dim < 0 ||
      index_vector_dim > indices.rank() ||
      Contains(index_batching, index_vector_dim)) {
    return false;
  }
  for (int i = 0; i < batching.size(); ++i) {
    if (array.dims[batching[i]] != indices.dims[index_batching[i]]) {
      return false;
    }
  }
  return true;
}

// The sizes of the dimensions that `taken` does not name.
template <typename Repeated>
std::vector<int64_t> OtherSizes(const Shape& shape, const Repeated& taken) {
  std::vector<int64_t> sizes;
  for (int dim = 0; dim < shape.rank(); ++dim) {
    if (!Contains(taken, dim)) sizes.push_back(shape.dims[dim]);
  }
  return sizes;
}

bool LayoutIsDefault(const hlo::ShapeProto& shape) {
  const auto& order = shape.layout().minor_to_major();
  for (int i = 0; i < order.size(); ++i) {
    if (order[i] != order.size() - 1 - i) return false;
  }
  return true;
}

// The output size of one windowed dimension.
bool WindowFits(const hlo::WindowDimension& window, int64_t in, int64_t out) {
  using Wide = __int128;
  if (window.size() < 1) return false;
  const Wide base = std::max<int64_t>(window.base_dilation(), 1);
  const Wide stride = std::max<int64_t>(window.stride(), 1);
  const Wide span = static_cast<Wide>(window.size() - 1) *
                        std::max<int64_t>(window.window_dilation(), 1) +
                    1;
  const Wide padded = (in == 0 ? Wide{0} : (in - 1) * base + 1) +
                      window.padding_low() + window.padding_high();
  return out == (padded < span ? Wide{0} : (padded - span) / stride + 1);
}

bool WindowsFit(const Instruction& it, const std::vector<int64_t>& in,
                const std::vector<int64_t>& out) {
  const auto& windows = it.attributes().window().dimensions();
  if (windows.size() != static_cast<int>(in.size()) ||
      in.size() != out.size()) {
    return false;
  }
  for (int i = 0; i < windows.size(); ++i) {
    if (!WindowFits(windows[i], in[i], out[i])) return false;
  }
  return true;
}

// The numbers name every dimension of a side once.
bool Permutes(int64_t a, int64_t b,
              const google::protobuf::RepeatedField<int64_t>& rest, int rank) {
  std::vector<int64_t> dims(rest.begin(), rest.end());
  dims.push_back(a);
  dims.push_back(b);
  return static_cast<int>(dims.size()) == rank &&
         AreDistinctInRange(dims, rank);
}

const char* CheckBatchNormInference(const Module& module,
                                    const Instruction& it) {
  if (it.operands.size() != 5) return kWrongOperands;
  const int64_t feature = it.attributes().feature_index();
  if (OperandShape(module, it, 0).dims != it.shape.dims || feature < 0 ||
      feature >= it.shape.rank()) {
    return kWrongDims;
  }
  for (size_t i = 1; i < it.operands.size(); ++i) {
    const Shape& statistics = OperandShape(module, it, i);
    if (statistics.rank() != 1 ||
        statistics.dims[0] != it.shape.dims[feature]) {
      return kWrongDims;
    }
  }
  return nullptr;
}

const char* CheckBitcast(const Module& module, const Instruction& it) {
  if (it.operands.size() != 1) return kWrongOperands;
  const Instruction& source = module.at(it.operands[0]);
  if (!LayoutIsDefault(it.attributes().shape()) ||
      !LayoutIsDefault(source.attributes().shape())) {
    return "reads memory by its layout; export the module before XLA assigns "
           "layouts";
  }
  const auto bytes = [](const Shape& shape) {
    return (shape.element_count() * CountElementBits(shape.element_type) + 7) /
           8;
  };
  return bytes(source.shape) == bytes(it.shape)
             ? nullptr
             : "does not keep the number of bytes";
}

const char* CheckCholesky(const Module& module, const Instruction& it) {
  if (it.operands.size() != 1) return kWrongOperands;
  const std::vector<int64_t>& dims = it.shape.dims;
  return OperandShape(module, it, 0).dims == dims && dims.size() >= 2 &&
                 dims[dims.size() - 1] == dims[dims.size() - 2]
             ? nullptr
             : kWrongDims;
}

const char* CheckConvolution(const Module& module, const Instruction& it) {
  if (it.operands.size() != 2) return kWrongOperands;
  const Shape& input = OperandShape(module, it, 0);
  const Shape& kernel = OperandShape(module, it, 1);
  const auto& numbers = it.attributes().convolution_dimension_numbers();
  const auto& windows = it.attributes().window().dimensions();
  const int rank = it.shape.rank();
  if (input.rank() != rank || kernel.rank() != rank ||
      windows.size() != rank - 2 ||
      !Permutes(numbers.input_batch_dimension(),
                numbers.input_feature_dimension(),
                numbers.input_spatial_dimensions(), rank) ||
      !Permutes(numbers.kernel_input_feature_dimension(),
                numbers.kernel_output_feature_dimension(),
                numbers.kernel_spatial_dimensions(), rank) ||
      !Permutes(numbers.output_batch_dimension(),
                numbers.output_feature_dimension(),
                numbers.output_spatial_dimensions(), rank)) {
    return kWrongDims;
  }
  const int64_t feature_groups =
      std::max<int64_t>(it.attributes().feature_group_count(), 1);
  const int64_t batch_groups =
      std::max<int64_t>(it.attributes().batch_group_count(), 1);
  const int64_t features =
      kernel.dims[numbers.kernel_output_feature_dimension()];
  const int64_t batch = input.dims[numbers.input_batch_dimension()];
  const int64_t in_features = input.dims[numbers.input_feature_dimension()];
  if ((feature_groups > 1 && batch_groups > 1) ||
      in_features % feature_groups != 0 ||
      in_features / feature_groups !=
          kernel.dims[numbers.kernel_input_feature_dimension()] ||
      features % feature_groups != 0 || features % batch_groups != 0 ||
      batch % batch_groups != 0 ||
      it.shape.dims[numbers.output_feature_dimension()] != features ||
      it.shape.dims[numbers.output_batch_dimension()] != batch / batch_groups) {
    return kWrongDims;
  }
  for (int i = 0; i < windows.size(); ++i) {
    if (windows[i].size() !=
            kernel.dims[numbers.kernel_spatial_dimensions(i)] ||
        !WindowFits(windows[i], input.dims[numbers.input_spatial_dimensions(i)],
                    it.shape.dims[numbers.output_spatial_dimensions(i)])) {
      return kWrongDims;
    }
  }
  return nullptr;
}

const char* CheckDynamicSlice(const Module& module, const Instruction& it) {
  if (it.operands.empty()) return kWrongOperands;
  const Shape& in = OperandShape(module, it, 0);
  if (in.rank() != it.shape.rank()) return kWrongDims;
  for (int i = 0; i < in.rank(); ++i) {
    if (it.shape.dims[i] > in.dims[i]) return kWrongDims;
  }
  return nullptr;
}

const char* CheckDynamicUpdateSlice(const Module& module,
                                    const Instruction& it) {
  if (it.operands.size() < 2) return kWrongOperands;
  const Shape& update = OperandShape(module, it, 1);
  if (OperandShape(module, it, 0).dims != it.shape.dims ||
      update.rank() != it.shape.rank()) {
    return kWrongDims;
  }
  for (int i = 0; i < update.rank(); ++i) {
    if (update.dims[i] > it.shape.dims[i]) return kWrongDims;
  }
  return nullptr;
}

const char* CheckFft(const Module& module, const Instruction& it) {
  if (it.operands.size() != 1) return kWrongOperands;
  // As XLA numbers them; a real transform keeps half of the last dimension.
  constexpr int kToHalf = 2;
  constexpr int kFromHalf = 3;
  const auto& lengths = it.attributes().fft_length();
  std::vector<int64_t> dims = OperandShape(module, it, 0).dims;
  if (lengths.empty() || lengths.size() > static_cast<int>(dims.size())) {
    return kWrongDims;
  }
  const int64_t length = lengths[lengths.size() - 1];
  if (it.attributes().fft_type() == kToHalf) {
    dims.back() = length == 0 ? 0 : length / 2 + 1;
  } else if (it.attributes().fft_type() == kFromHalf) {
    dims.back() = length;
  }
  return it.shape.dims == dims ? nullptr : kWrongDims;
}

const char* CheckGather(const Module& module, const Instruction& it) {
  if (it.operands.size() != 2) return kWrongOperands;
  const auto& numbers = it.attributes().gather_dimension_numbers();
  const auto& sizes = it.attributes().gather_slice_sizes();
  const Shape& in = OperandShape(module, it, 0);
  const Shape& indices = OperandShape(module, it, 1);
  if (sizes.size() != in.rank() ||
      !AreDistinctInRange(numbers.offset_dims(), it.shape.rank()) ||
      !AreDistinctInRange(numbers.collapsed_slice_dims(), in.rank()) ||
      !AreDistinctInRange(numbers.start_index_map(), in.rank()) ||
      !BatchingFits(in, numbers.operand_batching_dims(), indices,
                    numbers.start_indices_batching_dims(),
                    numbers.index_vector_dim())) {
    return kWrongDims;
  }
  std::vector<int64_t> offsets;
  for (int i = 0; i < in.rank(); ++i) {
    if (sizes[i] < 0 || sizes[i] > in.dims[i]) return kWrongDims;
    const bool collapsed = Contains(numbers.collapsed_slice_dims(), i);
    const bool batching = Contains(numbers.operand_batching_dims(), i);
    if (collapsed && batching) return kWrongDims;
    if (!collapsed && !batching) offsets.push_back(sizes[i]);
  }
  if (static_cast<int>(offsets.size()) != numbers.offset_dims_size()) {
    return kWrongDims;
  }
  for (int i = 0; i < numbers.offset_dims_size(); ++i) {
    if (it.shape.dims[numbers.offset_dims(i)] != offsets[i]) return kWrongDims;
  }
  return OtherSizes(it.shape, numbers.offset_dims()) ==
                 SliceCounts(indices, numbers.index_vector_dim())
             ? nullptr
             : kWrongDims;
}

const char* CheckReduceWindow(const Module& module, const Instruction& it) {
  if (it.operands.size() < 2 || it.operands.size() % 2 != 0) {
    return kWrongOperands;
  }
  const size_t inputs = it.operands.size() / 2;
  const std::vector<int64_t>* out = CollectUniformDims(it.shape);
  if (out == nullptr ||
      (it.shape.is_tuple() ? it.shape.elements.size() : 1) != inputs) {
    return kWrongDims;
  }
  for (size_t i = 0; i < inputs; ++i) {
    if (!WindowsFit(it, OperandShape(module, it, i).dims, *out)) {
      return kWrongDims;
    }
  }
  return nullptr;
}

const char* CheckScatter(const Module& module, const Instruction& it) {
  if (it.operands.size() < 3 || it.operands.size() % 2 != 1) {
    return kWrongOperands;
  }
  const size_t inputs = it.operands.size() / 2;
  const auto& numbers = it.attributes().scatter_dimension_numbers();
  const Shape& target = OperandShape(module, it, 0);
  const Shape& indices = OperandShape(module, it, inputs);
  const Shape& updates = OperandShape(module, it, inputs + 1);
  const std::vector<int64_t>* out = CollectUniformDims(it.shape);
  if (out == nullptr || *out != target.dims ||
      (it.shape.is_tuple() ? it.shape.elements.size() : 1) != inputs) {
    return kWrongDims;
  }
  for (size_t i = 0; i < inputs; ++i) {
    if (OperandShape(module, it, i).dims != target.dims ||
        OperandShape(module, it, inputs + 1 + i).dims != updates.dims) {
      return kWrongDims;
    }
  }
  if (!AreDistinctInRange(numbers.update_window_dims(), updates.rank()) ||
      !AreDistinctInRange(numbers.inserted_window_dims(), target.rank()) ||
      !AreDistinctInRange(numbers.scatter_dims_to_operand_dims(),
                          target.rank()) ||
      !BatchingFits(target, numbers.input_batching_dims(), indices,
                    numbers.scatter_indices_batching_dims(),
                    numbers.index_vector_dim())) {
    return kWrongDims;
  }
  int window = 0;
  for (int dim = 0; dim < target.rank(); ++dim) {
    const bool inserted = Contains(numbers.inserted_window_dims(), dim);
    const bool batching = Contains(numbers.input_batching_dims(), dim);
    if (inserted && batching) return kWrongDims;
    if (inserted || batching) continue;
    if (window == numbers.update_window_dims_size() ||
        updates.dims[numbers.update_window_dims(window++)] > target.dims[dim]) {
      return kWrongDims;
    }
  }
  if (window != numbers.update_window_dims_size()) return kWrongDims;
  return OtherSizes(updates, numbers.update_window_dims()) ==
                 SliceCounts(indices, numbers.index_vector_dim())
             ? nullptr
             : kWrongDims;
}

const char* CheckSelectAndScatter(const Module& module, const Instruction& it) {
  if (it.operands.size() != 3) return kWrongOperands;
  return OperandShape(module, it, 0).dims == it.shape.dims &&
                 WindowsFit(it, it.shape.dims, OperandShape(module, it, 1).dims)
             ? nullptr
             : kWrongDims;
}

const char* CheckTopK(const Module& module, const Instruction& it) {
  if (it.operands.size() != 1) return kWrongOperands;
  const std::vector<int64_t>& in = OperandShape(module, it, 0).dims;
  const std::vector<int64_t>* out = CollectUniformDims(it.shape);
  if (out == nullptr || in.empty() || out->size() != in.size()) {
    return kWrongDims;
  }
  return out->back() <= in.back() &&
                 std::equal(in.begin(), in.end() - 1, out->begin())
             ? nullptr
             : kWrongDims;
}

const char* CheckTriangularSolve(const Module& module, const Instruction& it) {
  if (it.operands.size() != 2) return kWrongOperands;
  const std::vector<int64_t>& a = OperandShape(module, it, 0).dims;
  const std::vector<int64_t>& b = OperandShape(module, it, 1).dims;
  const size_t rank = b.size();
  if (b != it.shape.dims || a.size() != rank || rank < 2 ||
      !std::equal(a.begin(), a.end() - 2, b.begin())) {
    return kWrongDims;
  }
  const bool left = it.attributes().triangular_solve_options().left_side();
  return a[rank - 1] == a[rank - 2] &&
                 a[rank - 1] == b[left ? rank - 2 : rank - 1]
             ? nullptr
             : kWrongDims;
}

}  // namespace

const char* CheckArithmetic(const Module& module, const Instruction& it) {
  switch (it.opcode) {
    case Opcode::kBitcast:
    case Opcode::kBitcastConvert:
      return CheckBitcast(module, it);
    case Opcode::kBatchNormInference:
      return CheckBatchNormInference(module, it);
    case Opcode::kCholesky:
      return CheckCholesky(module, it);
    case Opcode::kConvolution:
      return CheckConvolution(module, it);
    case Opcode::kDynamicSlice:
      return CheckDynamicSlice(module, it);
    case Opcode::kDynamicUpdateSlice:
      return CheckDynamicUpdateSlice(module, it);
    case Opcode::kFft:
      return CheckFft(module, it);
    case Opcode::kGather:
      return CheckGather(module, it);
    case Opcode::kReduceWindow:
      return CheckReduceWindow(module, it);
    case Opcode::kScatter:
      return CheckScatter(module, it);
    case Opcode::kSelectAndScatter:
      return CheckSelectAndScatter(module, it);
    case Opcode::kTopK:
      return CheckTopK(module, it);
    case Opcode::kTriangularSolve:
      return CheckTriangularSolve(module, it);
    default:
      return nullptr;
  }
}

}  // namespace meshwright::ir
