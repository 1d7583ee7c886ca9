// WhatIf: a step on another mesh, or over other links, told from what the store
// holds; nothing is measured.
//
// Concept: the space of the new mesh is built as for a plan. Programs of it
// that were measured count as they are. Every other one is told from its
// counterpart on the measured mesh: the same segment with the same
// configuration, the same border between the same two (scaled_row.h). With a
// link table also the communication of measured programs is told anew. In →
// Out: a step that was measured, the request of the new one → the new one, as
// if it had been measured; its rows say which of them are estimates. Errors:
// kFailedPrecondition where nothing tells: an axis of one device that shall
// have more, segments that the measured mesh does not have; kNotFound where the
// store is too empty; those of MeasureStep. Each says what to measure.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_WHAT_IF_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_WHAT_IF_H_

#include <optional>

#include "absl/status/statusor.h"
#include "coordinator/estimation/link_table.h"
#include "coordinator/planning/measured_step.h"

namespace meshwright::explain {

// `known` is of the same model and strategies as `request`; `links` are those
// of the request's mesh.
absl::StatusOr<planning::MeasuredStep> EstimateStep(
    const planning::MeasuredStep& known, const v1::PlanRequest& request,
    const std::optional<estimation::LinkTable>& links,
    store::ProfileStore* store);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_WHAT_IF_H_
