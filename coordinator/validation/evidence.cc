#include "coordinator/validation/evidence.h"

#include "base/status_macros.h"
#include "coordinator/jobs/device_digest.h"

namespace meshwright::validation {
absl::Status RecordEvidence(
    const std::vector<Probe>& probes,
    const std::map<std::string, v1::ProfileResult>& results,
    const std::string& machine, store::ProfileStore* store) {
  for (const Probe& probe : probes) {
    const auto row = results.find(probe.program.key());
    if (row == results.end() || row->second.outcome() != v1::MEASURED ||
        IsGuess(row->second.measurement())) {
      continue;
    }
    RETURN_IF_ERROR(
        store->Record(row->second, store::MakeOrigin(row->second, machine)));
  }
  return absl::OkStatus();
}

absl::Status RecordStagedEvidence(
    const v1::Plan& plan, const std::vector<Probe>& probes,
    const std::map<std::string, v1::ProfileResult>& results,
    const v1::DeviceFingerprint& here, store::ProfileStore* store) {
  const std::string machine = jobs::DigestFingerprint(here);
  if (machine != jobs::DigestFingerprint(plan.device_fingerprint())) {
    return absl::OkStatus();
  }
  return RecordEvidence(probes, results, machine, store);
}

}  // namespace meshwright::validation
