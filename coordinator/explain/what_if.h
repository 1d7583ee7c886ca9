// WhatIf: a step on another mesh, or over other links, estimated from the
// store; nothing is measured.
//
// Concept: the space of the new mesh is built as for a plan. Programs with
// measurements count as they are. Every other program is estimated from its
// counterpart on the measured mesh: the same segment with the same
// configuration, or the same boundary between the same two. A link table
// replaces the communication of measured programs, too.
// In -> Out: a measured step, the request of another one -> that one as if it
// were measured; its rows say which of them are estimates.
// Errors: kFailedPrecondition if nothing determines an estimate: an axis grows
// from one device, or the measured mesh lacks a segment; kNotFound if the store
// lacks measurements; those of MeasureStep. Each says what to measure.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_WHAT_IF_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_WHAT_IF_H_

#include <optional>

#include "absl/status/statusor.h"
#include "base/link.h"
#include "coordinator/planning/measured_step.h"

namespace meshwright::explain {

// `known` is of the same model and strategies as `request`; `links` are those
// of the request's mesh.
absl::StatusOr<planning::MeasuredStep> EstimateStep(
    const planning::MeasuredStep& known, const v1::PlanRequest& request,
    const std::optional<base::Links>& links, store::ProfileStore* store);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_WHAT_IF_H_
