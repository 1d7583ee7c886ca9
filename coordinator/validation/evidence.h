// Evidence: what a validation measured again goes into the store.
//
// Concept: a validation times programs of the plans' segments beside the whole
// steps (drift.h). Each of these times is one more measurement of a key that
// the store knows, so a row that was wrong is found out by the next plan.
// In → Out: a validation and its results → measurements in the store.
// Errors: those of the store, at the first of which recording stops.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_EVIDENCE_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_EVIDENCE_H_

#include "absl/status/status.h"
#include "coordinator/validation/prepare.h"
#include "coordinator/validation/reference.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::validation {

// Of the probes that were measured; failures beside whole steps say nothing of
// a program.
absl::Status RecordEvidence(const Validation& validation,
                            const Results& results, store::ProfileStore* store);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_EVIDENCE_H_
