#include "planner/intraop/op_model.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/layout/layout_problem.h"

namespace meshwright::intraop {
namespace {

// Indices that exist.
absl::Status CheckIndices(const std::vector<int>& indices, int count,
                          int min_index, const std::string& field) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < min_index || indices[i] >= count) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, "[", i, "] is ", indices[i],
                       "; the operator has ", count, " indices"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckShare(const Share& share, int count,
                        const std::string& field) {
  if (share.amount < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ".amount is ", share.amount, ", below 0"));
  }
  return CheckIndices(share.indices, count, 0, absl::StrCat(field, ".indices"));
}

absl::Status CheckOperator(const Operator& it, const std::string& field) {
  const int count = static_cast<int>(it.indices.size());
  for (int i = 0; i < count; ++i) {
    if (it.indices[i].divisible >= 1) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(field, ".indices[", i, "].divisible is ",
                     it.indices[i].divisible, ", below 1"));
  }
  const std::pair<const char*, const std::vector<Share>*> shares[] = {
      {".time", &it.time},
      {".persistent", &it.persistent},
      {".saved", &it.saved},
      {".transient", &it.transient}};
  for (const auto& [name, list] : shares) {
    for (size_t i = 0; i < list->size(); ++i) {
      RETURN_IF_ERROR(
          CheckShare((*list)[i], count,
                     absl::StrCat(field, std::string(name), "[", i, "]")));
    }
  }
  for (size_t i = 0; i < it.partials.size(); ++i) {
    const Partial& partial = it.partials[i];
    const std::string name = absl::StrCat(field, ".partials[", i, "]");
    RETURN_IF_ERROR(
        CheckShare(partial.bytes, count, absl::StrCat(name, ".bytes")));
    RETURN_IF_ERROR(
        CheckIndices(partial.summed, count, 0, absl::StrCat(name, ".summed")));
    if (partial.times < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ".times is ", partial.times, ", below 0"));
    }
  }
  if (it.rows.has_value() && (*it.rows < 0 || *it.rows >= count)) {
    return absl::InvalidArgumentError(absl::StrCat(field, ".rows is ", *it.rows,
                                                   "; the operator has ", count,
                                                   " indices"));
  }
  return absl::OkStatus();
}

absl::Status CheckEdge(const OpModel& model, const Edge& it,
                       const std::string& field) {
  const int count = static_cast<int>(model.operators.size());
  if (it.from < 0 || it.to >= count || it.from >= it.to) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, " leads from ", it.from, " to ", it.to,
        "; an edge leads to a later operator, of which there are ", count));
  }
  if (it.from_indices.size() != it.dims.size() ||
      it.to_indices.size() != it.dims.size() ||
      it.dims.size() > static_cast<size_t>(layout::kMaxDims)) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, " has ", it.dims.size(), " dims, ", it.from_indices.size(),
        " from_indices and ", it.to_indices.size(),
        " to_indices; each needs as many, at most ", layout::kMaxDims));
  }
  for (int64_t dim : it.dims) {
    if (dim < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ".dims holds ", dim, ", below 1"));
    }
  }
  if (it.elem_bytes < 1 || it.times < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " has elem_bytes ", it.elem_bytes, " and times ",
                     it.times, "; they start at 1 and 0"));
  }
  RETURN_IF_ERROR(
      CheckIndices(it.from_indices,
                   static_cast<int>(model.operators[it.from].indices.size()),
                   kWholeDim, absl::StrCat(field, ".from_indices")));
  return CheckIndices(it.to_indices,
                      static_cast<int>(model.operators[it.to].indices.size()),
                      kWholeDim, absl::StrCat(field, ".to_indices"));
}

}  // namespace

absl::Status Validate(const OpModel& model) {
  for (size_t i = 0; i < model.operators.size(); ++i) {
    RETURN_IF_ERROR(
        CheckOperator(model.operators[i], absl::StrCat("operators[", i, "]")));
  }
  for (size_t i = 0; i < model.edges.size(); ++i) {
    RETURN_IF_ERROR(
        CheckEdge(model, model.edges[i], absl::StrCat("edges[", i, "]")));
  }
  return absl::OkStatus();
}

}  // namespace meshwright::intraop
