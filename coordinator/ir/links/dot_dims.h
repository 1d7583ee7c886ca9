// The dimension roles of a dot: batch, contracting and free on either side.
// A convolution has spatial ones too (contraction_dims.h).
//
// Shapes: the output is [batch..., lhs free..., rhs free...].
// Errors: kInvalidArgument when the numbers do not fit the operand shapes.
#ifndef MESHWRIGHT_COORDINATOR_IR_LINKS_DOT_DIMS_H_
#define MESHWRIGHT_COORDINATOR_IR_LINKS_DOT_DIMS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/ir/shape.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

enum class DotRole { kBatch, kContracting, kFree, kSpatial };

struct DotDims {
  // One entry per operand dimension. `partner` is the dimension of the other
  // operand for batch and contracting dimensions; `output` the output dimension
  // for batch and free ones.
  struct Dim {
    DotRole role = DotRole::kFree;
    std::optional<int> partner;
    std::optional<int> output;
    // Where not 0, a split must divide it too: the groups of a convolution.
    int64_t groups = 0;
  };
  std::vector<Dim> side[2];  // lhs, rhs

  // The sizes of the result's dimensions.
  std::vector<int64_t> FindOutputDims(const Shape& lhs, const Shape& rhs) const;
  int count(DotRole role) const;  // on the lhs
};

absl::StatusOr<DotDims> MakeDotDims(const hlo::DotDimensionNumbers& numbers,
                                    const Shape& lhs, const Shape& rhs);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LINKS_DOT_DIMS_H_
