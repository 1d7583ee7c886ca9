#include "tests/integration/layout_program.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "tests/integration/layout_transfers.h"

namespace meshwright {
namespace {

using layout::LayoutProblem;
using layout::Op;
using layout::Spec;
using layout::Step;

using Dims = std::vector<int64_t>;

std::string ShapeText(const Dims& dims) {
  return absl::StrCat("s32[", absl::StrJoin(dims, ","), "]");
}

std::string Braced(const std::vector<std::string>& parts) {
  return absl::StrCat("{", absl::StrJoin(parts, ","), "}");
}

class Writer {
 public:
  explicit Writer(const Dims& mesh)
      : mesh_(mesh), devices_(layout::CountDevices(mesh)) {
    Add("s32[]", "constant(0)");   // v0
    Add("u32[]", "replica-id()");  // v1
    Add("s32[]", "convert(v1)");   // v2
  }

  absl::Status AddPath(const PathToRun& run) {
    dims_ = TileShape(run.problem, run.path.specs[0]);
    value_ =
        Add(ShapeText(dims_), absl::StrCat("parameter(", outputs_.size(), ")"));
    for (size_t i = 0; i < run.path.steps.size(); ++i) {
      const Dims tile = TileShape(run.problem, run.path.specs[i + 1]);
      const Step& step = run.path.steps[i];
      switch (step.op) {
        case Op::kAllGather:
          Gather(step, tile);
          break;
        case Op::kSlice:
          Slice(step, tile);
          break;
        case Op::kAllToAll:
          Exchange(step, tile);
          break;
        case Op::kCollectivePermute:
          RETURN_IF_ERROR(Permute(run, static_cast<int>(i)));
          break;
      }
    }
    outputs_.push_back(value_);
    shapes_.push_back(ShapeText(dims_));
    return {};
  }

  std::string Finish() {
    absl::StrAppend(&text_, "  ROOT out = (", absl::StrJoin(shapes_, ", "),
                    ") tuple(", absl::StrJoin(outputs_, ", "), ")\n}\n");
    return absl::StrCat("HloModule layouts\n\nENTRY main {\n", text_);
  }

 private:
  std::string Add(const std::string& shape, const std::string& call) {
    std::string name = absl::StrCat("v", count_++);
    absl::StrAppend(&text_, "  ", name, " = ", shape, " ", call, "\n");
    return name;
  }

  // Gives value_ other dimensions by `call`, whose operand it is.
  void Turn(const Dims& dims, const std::string& opcode,
            const std::string& rest) {
    dims_ = dims;
    value_ = Add(ShapeText(dims), absl::StrCat(opcode, "(", value_, rest));
  }

  int64_t Stride(int axis) const {
    int64_t stride = 1;
    for (size_t a = axis + 1; a < mesh_.size(); ++a) stride *= mesh_[a];
    return stride;
  }

  std::string Groups(int axis) const {
    const int64_t stride = Stride(axis);
    std::vector<std::string> groups;
    for (int64_t first = 0; first < devices_; ++first) {
      if (first / stride % mesh_[axis] != 0) continue;
      std::vector<std::string> group;
      for (int64_t i = 0; i < mesh_[axis]; ++i) {
        group.push_back(absl::StrCat(first + i * stride));
      }
      groups.push_back(Braced(group));
    }
    return Braced(groups);
  }

  // Padding behind or a cut, so that dimension `dim` has `size` elements.
  void Resize(int dim, int64_t size) {
    if (dims_[dim] == size) return;
    Dims dims = dims_;
    dims[dim] = size;
    std::vector<std::string> parts;
    for (size_t d = 0; d < dims.size(); ++d) {
      parts.push_back(dims_[dim] < size ? absl::StrCat("0_", dims[d] - dims_[d])
                                        : absl::StrCat("[0:", dims[d], "]"));
    }
    if (dims_[dim] < size) {
      Turn(dims, "pad",
           absl::StrCat(", v0), padding=", absl::StrJoin(parts, "x")));
    } else {
      Turn(dims, "slice", absl::StrCat("), slice=", Braced(parts)));
    }
  }

  void Gather(const Step& step, const Dims& tile) {
    Dims dims = dims_;
    dims[step.dim] *= mesh_[step.axis];
    Turn(dims, "all-gather",
         absl::StrCat("), dimensions={", step.dim,
                      "}, replica_groups=", Groups(step.axis)));
    Resize(step.dim, tile[step.dim]);
  }

  void Slice(const Step& step, const Dims& tile) {
    Resize(step.dim, tile[step.dim] * mesh_[step.axis]);
    std::vector<std::string> offsets;
    for (int64_t device = 0; device < devices_; ++device) {
      const int64_t at = device / Stride(step.axis) % mesh_[step.axis];
      offsets.push_back(absl::StrCat(at * tile[step.dim]));
    }
    const std::string table = Add(
        ShapeText({devices_}), absl::StrCat("constant(", Braced(offsets), ")"));
    const std::string one =
        Add("s32[1]", absl::StrCat("dynamic-slice(", table,
                                   ", v2), dynamic_slice_sizes={1}"));
    const std::string offset = Add("s32[]", absl::StrCat("reshape(", one, ")"));
    std::string starts;
    for (int d = 0; d < static_cast<int>(tile.size()); ++d) {
      absl::StrAppend(&starts, ", ", d == step.dim ? offset : "v0");
    }
    Turn(tile, "dynamic-slice",
         absl::StrCat(starts, "), dynamic_slice_sizes={",
                      absl::StrJoin(tile, ","), "}"));
  }

  // [.., n t, ..] in to_dim: the n shares become a dimension, are exchanged,
  // and go where they belong in dim.
  void Exchange(const Step& step, const Dims& tile) {
    const int64_t n = mesh_[step.axis];
    const int to_dim = *step.to_dim;
    Resize(to_dim, tile[to_dim] * n);
    Dims dims = dims_;
    dims[to_dim] = tile[to_dim];
    dims.insert(dims.begin() + to_dim, n);
    Turn(dims, "reshape", ")");
    Turn(dims, "all-to-all",
         absl::StrCat("), dimensions={", to_dim,
                      "}, replica_groups=", Groups(step.axis)));
    Dims order;
    for (int d = 0; d < static_cast<int>(tile.size()); ++d) {
      if (d == step.dim) order.push_back(to_dim);
      order.push_back(d < to_dim ? d : d + 1);
    }
    Dims moved;
    for (const int64_t d : order) moved.push_back(dims[d]);
    Turn(moved, "transpose",
         absl::StrCat("), dimensions={", absl::StrJoin(order, ","), "}"));
    moved.erase(moved.begin() + step.dim);
    moved[step.dim] *= n;
    Turn(moved, "reshape", ")");
    Resize(step.dim, tile[step.dim]);
  }

  absl::Status Permute(const PathToRun& run, int index) {
    ASSIGN_OR_RETURN(const auto transfers,
                     layout::Transfers(run.problem, run.path, index));
    std::vector<std::string> pairs;
    for (const layout::Transfer& it : transfers) {
      pairs.push_back(absl::StrCat("{", it.from, ",", it.to, "}"));
    }
    Turn(dims_, "collective-permute",
         absl::StrCat("), source_target_pairs=", Braced(pairs)));
    return {};
  }

  const Dims mesh_;
  const int64_t devices_;
  int count_ = 0;
  std::string text_;
  // Of the path that is being written.
  std::string value_;
  Dims dims_;
  std::vector<std::string> outputs_;
  std::vector<std::string> shapes_;
};

}  // namespace

Dims TileShape(const LayoutProblem& problem, const Spec& spec) {
  Dims tile;
  for (size_t d = 0; d < spec.size(); ++d) {
    int64_t parts = 1;
    for (const int axis : spec[d]) parts *= problem.mesh[axis];
    tile.push_back((problem.shape[d] + parts - 1) / parts);
  }
  return tile;
}

absl::StatusOr<std::string> LayoutProgram(const std::vector<PathToRun>& paths) {
  Writer writer(paths.front().problem.mesh);
  for (const PathToRun& run : paths) RETURN_IF_ERROR(writer.AddPath(run));
  return writer.Finish();
}

}  // namespace meshwright
