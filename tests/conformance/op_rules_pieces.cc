#include "tests/conformance/op_rules_pieces.h"

#include <algorithm>
#include <cstring>

#include "coordinator/ir/links/dim_links.h"
#include "coordinator/ir/shape.h"

namespace meshwright::conformance {
namespace {

void CutShape(ir::Shape& shape, int dim, int64_t parts) {
  if (!shape.is_tuple()) shape.dims[dim] /= parts;
  for (ir::Shape& element : shape.elements) element.dims[dim] /= parts;
}

// The component of the indices that points into the cut dimension of a
// scatter's input, or -1.
int ShiftedComponent(const OpCase& one, int out) {
  if (one.op.opcode() != "scatter") return -1;
  const auto& numbers = one.op.scatter_dimension_numbers();
  const auto& inserted = numbers.inserted_window_dims();
  if (std::find(inserted.begin(), inserted.end(), out) == inserted.end()) {
    return -1;
  }
  const auto& map = numbers.scatter_dims_to_operand_dims();
  return static_cast<int>(std::find(map.begin(), map.end(), out) - map.begin());
}

Array Shifted(const Array& indices, int64_t vector_dim, int component,
              int64_t amount) {
  Array shifted = indices;
  int64_t inner = 1;
  for (size_t i = vector_dim + 1; i < indices.dimensions.size(); ++i) {
    inner *= indices.dimensions[i];
  }
  const bool implicit =
      vector_dim == static_cast<int64_t>(indices.dimensions.size());
  const int64_t components = implicit ? 1 : indices.dimensions[vector_dim];
  for (int64_t i = 0; i < indices.ElementCount(); ++i) {
    if (i / inner % components != component) continue;
    int32_t index = 0;
    char* at = &shifted.bytes[i * sizeof(index)];
    std::memcpy(&index, at, sizeof(index));
    index -= static_cast<int32_t>(amount);
    std::memcpy(at, &index, sizeof(index));
  }
  return shifted;
}

}  // namespace

Links FindLinks(const OpCase& one) {
  const ir::Module module = BuildModule(one);
  Links links;
  for (size_t i = 0; i < one.operands.size(); ++i) {
    links.push_back(ir::FindDimLinks(module, module.root, static_cast<int>(i)));
  }
  return links;
}

std::vector<int> CutsFor(const Links& links, int out) {
  std::vector<int> cuts;
  for (const auto& of_operand : links) {
    const auto found =
        std::find_if(of_operand.begin(), of_operand.end(),
                     [&](const ir::DimLink& link) { return link.out == out; });
    cuts.push_back(found == of_operand.end() ? -1 : found->in);
  }
  return cuts;
}

bool Divides(const OpCase& one, const Links& links, int out, int64_t parts) {
  const Dims& dims = *ir::CollectUniformDims(one.result);
  bool linked = false;
  bool divides = dims[out] % parts == 0;
  for (size_t i = 0; i < links.size(); ++i) {
    for (const ir::DimLink& link : links[i]) {
      if (link.out != out) continue;
      linked = true;
      divides &=
          (*ir::CollectUniformDims(one.operands[i].shape))[link.in] % parts ==
              0 &&
          (link.groups == 0 || link.groups % parts == 0);
    }
  }
  return linked && divides;
}

OpCase CutPiece(const OpCase& one, const Links& links, int out, int64_t parts) {
  OpCase piece = one;
  const std::vector<int> cuts = CutsFor(links, out);
  for (size_t i = 0; i < cuts.size(); ++i) {
    if (cuts[i] >= 0) CutShape(piece.operands[i].shape, cuts[i], parts);
  }
  CutShape(piece.result, out, parts);
  const std::string& opcode = one.op.opcode();
  if (opcode == "slice") {
    piece.op.mutable_slice_dimensions(out)->set_limit(
        piece.operands[0].shape.dims[out]);
  } else if (opcode == "dynamic-slice") {
    piece.op.set_dynamic_slice_sizes(out, piece.result.dims[out]);
  } else if (opcode == "gather" && cuts[0] >= 0) {
    const int64_t size = one.op.gather_slice_sizes(cuts[0]);
    if (size == one.operands[0].shape.dims[cuts[0]]) {
      piece.op.set_gather_slice_sizes(cuts[0], size / parts);
    }
  } else if (opcode == "convolution" &&
             out == one.op.convolution_dimension_numbers()
                        .output_feature_dimension()) {
    if (one.op.feature_group_count() > 1) {
      piece.op.set_feature_group_count(one.op.feature_group_count() / parts);
    }
    if (one.op.batch_group_count() > 1) {
      piece.op.set_batch_group_count(one.op.batch_group_count() / parts);
    }
  }
  return piece;
}

Array PieceArray(const OpCase& one, const Links& links, int out, int64_t parts,
                 int64_t part, int operand, const Array& whole) {
  const int cut = CutsFor(links, out)[operand];
  if (cut >= 0) return Cut(whole, cut, parts, part);
  const int component = ShiftedComponent(one, out);
  if (component < 0 || operand != static_cast<int>(one.operands.size()) / 2) {
    return whole;
  }
  return Shifted(whole, one.op.scatter_dimension_numbers().index_vector_dim(),
                 component, part * (one.operands[0].shape.dims[out] / parts));
}

}  // namespace meshwright::conformance
