// Evidence: what a validation measured again goes into the store.
//
// Concept: a validation times programs of the plans' segments beside the whole
// steps (drift.h). Each of these times is one more measurement of a key that
// the store knows. The next plan thus finds out a row that was wrong.
// In → Out: probes and their results → measurements in the store.
// Errors: those of the store, at the first of which recording stops.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_EVIDENCE_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_EVIDENCE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/validation/drift.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/device.pb.h"
#include "proto/v1/job.pb.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::validation {

// Of the probes that were measured; failures beside whole steps say nothing of
// a program.
// `machine`: digest of the fingerprint of the devices that they ran on, which
// is the one in the probes' keys.
absl::Status RecordEvidence(
    const std::vector<Probe>& probes,
    const std::map<std::string, v1::ProfileResult>& results,
    const std::string& machine, store::ProfileStore* store);

// Of a plan with stages, whose probes' keys name the plan's devices. `here`:
// those that the probes ran on; of others nothing is recorded.
absl::Status RecordStagedEvidence(
    const v1::Plan& plan, const std::vector<Probe>& probes,
    const std::map<std::string, v1::ProfileResult>& results,
    const v1::DeviceFingerprint& here, store::ProfileStore* store);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_EVIDENCE_H_
