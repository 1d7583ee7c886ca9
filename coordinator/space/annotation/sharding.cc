#include "coordinator/space/annotation/sharding.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright::space {

int64_t CountDevices(const Mesh& mesh) {
  int64_t count = 1;
  for (int64_t size : mesh) count *= size;
  return count;
}

Sharding Legalize(const Sharding& sharding, const std::vector<int64_t>& dims,
                  const Mesh& mesh) {
  Sharding legal(sharding.size(), base::kCopies);
  std::vector<int64_t> parts(dims.size(), 1);
  for (size_t axis = 0; axis < sharding.size(); ++axis) {
    const int dim = sharding[axis];
    if (dim < 0 || dim >= static_cast<int>(dims.size()) || mesh[axis] <= 1) {
      continue;
    }
    if (dims[dim] == 0 || dims[dim] % (parts[dim] * mesh[axis]) != 0) continue;
    parts[dim] *= mesh[axis];
    legal[axis] = dim;
  }
  return legal;
}

hlo::OpSharding ToProto(const Sharding& sharding, int rank, const Mesh& mesh) {
  hlo::OpSharding proto;
  int64_t copies = 1;
  std::vector<int64_t> parts(rank, 1);
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (sharding[axis] < 0) {
      copies *= mesh[axis];
    } else {
      parts[sharding[axis]] *= mesh[axis];
    }
  }
  const int64_t devices = CountDevices(mesh);
  if (copies == devices) {
    proto.set_type(hlo::OpSharding::REPLICATED);
    return proto;
  }
  proto.set_type(hlo::OpSharding::OTHER);
  for (int64_t part : parts) proto.add_tile_assignment_dimensions(part);
  if (copies > 1) {
    proto.add_tile_assignment_dimensions(copies);
    proto.set_replicate_on_last_tile_dim(true);
  }
  // The device of every tile: walk the tile grid, mesh axes as digits.
  std::vector<size_t> axis_order;
  for (const std::vector<int>& axes : base::ToSpec(sharding, rank)) {
    axis_order.insert(axis_order.end(), axes.begin(), axes.end());
  }
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (sharding[axis] < 0) axis_order.push_back(axis);
  }
  std::vector<int64_t> stride(mesh.size(), 1);
  for (size_t axis = mesh.size(); axis-- > 1;) {
    stride[axis - 1] = stride[axis] * mesh[axis];
  }
  for (int64_t tile = 0; tile < devices; ++tile) {
    int64_t rest = tile;
    int64_t device = 0;
    for (size_t i = axis_order.size(); i-- > 0;) {
      const size_t axis = axis_order[i];
      device += rest % mesh[axis] * stride[axis];
      rest /= mesh[axis];
    }
    proto.add_tile_assignment_devices(device);
  }
  return proto;
}

hlo::OpSharding ToProto(const Sharding& sharding, const ir::Shape& shape,
                        const Mesh& mesh) {
  if (!shape.is_tuple()) return ToProto(sharding, shape.rank(), mesh);
  hlo::OpSharding proto;
  proto.set_type(hlo::OpSharding::TUPLE);
  for (const ir::Shape& element : shape.elements) {
    hlo::OpSharding inner = ToProto(sharding, element, mesh);
    if (inner.type() == hlo::OpSharding::TUPLE) {
      proto.mutable_tuple_shardings()->MergeFrom(inner.tuple_shardings());
    } else {
      *proto.add_tuple_shardings() = std::move(inner);
    }
  }
  if (shape.elements.empty()) proto.set_type(hlo::OpSharding::REPLICATED);
  return proto;
}

int64_t CountBytesPerDevice(const ir::Shape& shape, const Sharding& sharding,
                            const Mesh& mesh) {
  int64_t parts = 1;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (sharding[axis] >= 0) parts *= mesh[axis];
  }
  return shape.byte_size() / parts;
}

std::string Describe(const Sharding& sharding) {
  std::string text;
  for (size_t axis = 0; axis < sharding.size(); ++axis) {
    if (sharding[axis] < 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", "dim ", sharding[axis],
                    " over axis ", axis);
  }
  return text.empty() ? "replicated" : text;
}

std::string SplitText(const Sharding& sharding, const Mesh& mesh) {
  std::vector<std::string> axes;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (mesh[axis] < 2) continue;
    axes.push_back(sharding[axis] < 0 ? "whole"
                                      : absl::StrCat("dim ", sharding[axis]));
  }
  return axes.empty() ? "whole" : absl::StrJoin(axes, "/");
}

}  // namespace meshwright::space
