// OpModel: a step as the operators that an intra-op plan splits.
//
// Concept: an operator is one contraction (or another function that is no mere
// element-by-element work) with the trivial operations merged into it. It runs
// over indices, as an einsum does; a strategy gives every mesh axis one index
// to split, or none. All else follows from where an index appears:
//
//   y[b,n] = sum over k of x[b,k] w[k,n]       indices b, n, k
//   axis on b: y split, x split, w whole; w's gradient is summed over the axis
//   axis on k: x and w split; y is summed over the axis
//
// Shapes: `indices` of a tensor has one entry per dimension: the index that
// runs along it, or kWholeDim.
// Units: picoseconds and bytes, of one whole device doing everything.
// Threads and ownership: a value.
// Errors: Validate gives kInvalidArgument, naming the field. Causes: a negative
// amount or count; a divisor, dimension or element size below 1; an index that
// does not exist. An edge is refused if it does not lead to a later operator,
// or its lists differ in length or are longer than layout::kMaxDims.
// Source: papers/map_colossal_auto.txt 5.1.
#ifndef MESHWRIGHT_PLANNER_INTRAOP_OP_MODEL_H_
#define MESHWRIGHT_PLANNER_INTRAOP_OP_MODEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace meshwright::intraop {

// In the place of an index: the dimension is whole whatever is split.
inline constexpr int kWholeDim = -1;

struct Index {
  // A split must divide this: the greatest divisor of all sizes along it. 1:
  // it cannot be split.
  int64_t divisible = 1;
};

// An amount that devices divide by the parts of the indices.
struct Share {
  int64_t amount = 0;
  std::vector<int> indices;
};

// A tensor that is a sum over indices: where one is split, devices hold parts
// of the sum, and an all-reduce adds them.
struct Partial {
  Share bytes;
  std::vector<int> summed;
  int64_t times = 1;  // per step
};

struct Operator {
  std::string name;
  std::vector<Index> indices;
  std::vector<Share> time;
  std::vector<Share> persistent;
  std::vector<Share> saved;
  std::vector<Share> transient;
  std::vector<Partial> partials;
  std::optional<int> rows;  // the index of the batch
  bool heavy = false;       // a contraction
};

// One tensor from the operator that makes it to one that reads it.
struct Edge {
  int from = 0;
  int to = 0;
  std::vector<int64_t> dims;
  int64_t elem_bytes = 0;
  std::vector<int> from_indices;
  std::vector<int> to_indices;
  bool gradient = false;  // an equal tensor comes back
  int64_t times = 1;      // per step
};

struct OpModel {
  std::vector<Operator> operators;
  std::vector<Edge> edges;  // from < to
};

absl::Status Validate(const OpModel& model);

}  // namespace meshwright::intraop

#endif  // MESHWRIGHT_PLANNER_INTRAOP_OP_MODEL_H_
