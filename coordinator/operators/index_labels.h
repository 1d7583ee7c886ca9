// IndexLabels: the indices one operator runs over.
//
// Concept: every dimension of every value of an operator, and of what it reads
// from outside, belongs to a class. Dimensions are of one class if a link
// (dim_links.h) joins them, or if they are contracted or reduced together. A
// class whose parts stay apart through the whole operator is an index. It is
// none where an operation needs the dimension whole (the inner dimension of a
// merging reshape), or where one tensor has it twice.
// Shapes: a reading is operand number `operand` of member `user`; one entry per
// dimension: its index, if it has one.
// Source: coordinator/ir/links/dim_links.h.
#ifndef MESHWRIGHT_COORDINATOR_OPERATORS_INDEX_LABELS_H_
#define MESHWRIGHT_COORDINATOR_OPERATORS_INDEX_LABELS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "coordinator/operators/operator_groups.h"

namespace meshwright::operators {

using Reading = std::pair<ir::ValueId, int>;
using DimIndices = std::vector<std::optional<int>>;

struct IndexLabels {
  std::vector<int64_t> divisible;  // by index: what a split must divide
  std::map<ir::ValueId, DimIndices> values;        // of members
  std::map<Reading, DimIndices> readings;          // of values from outside
  std::map<ir::ValueId, std::vector<int>> summed;  // indices a member sums over
};

// The indices of a tensor, ascending, each once.
std::vector<int> Present(const DimIndices& indices);

// Indices that none of `axes` divides are left out.
IndexLabels LabelIndices(const segmenter::Analysis& analysis,
                         const OperatorGroup& group,
                         const std::vector<int64_t>& axes);

}  // namespace meshwright::operators

#endif  // MESHWRIGHT_COORDINATOR_OPERATORS_INDEX_LABELS_H_
