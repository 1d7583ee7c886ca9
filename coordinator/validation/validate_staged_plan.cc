#include "coordinator/validation/validate_staged_plan.h"

#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/jobs/device_digest.h"
#include "coordinator/validation/evidence.h"
#include "coordinator/validation/staged_drift.h"

namespace meshwright::validation {

absl::Status ValidateStagedPlan(const std::string& hlo_module,
                                const v1::Plan& plan, v1::DeviceSpec device,
                                store::ProfileStore* store,
                                const StagedRun& staged) {
  RETURN_IF_ERROR(CheckMeshes(plan));
  device.set_device_count(CountStageDevices(plan));
  const auto known = ChooseStageProbes(hlo_module, plan, store);
  const std::vector<Probe> probes = known.ok() ? *known : std::vector<Probe>();
  std::map<std::string, v1::ProfileResult> measured;
  ASSIGN_OR_RETURN(const v1::StagedValidationReport report,
                   ValidateStages(hlo_module, plan, probes, device,
                                  [&](const v1::RunnerRequest& request) {
                                    auto results = staged.run(request);
                                    if (results.ok()) {
                                      measured.insert(results->modules.begin(),
                                                      results->modules.end());
                                    }
                                    return results;
                                  }));
  if (!known.ok()) {
    staged.note(absl::StrCat(
        "the errors include the machine's drift, because no segment is "
        "measured again: ",
        known.status().message()));
  }
  staged.report(report);
  const absl::StatusOr<v1::DeviceFingerprint> here = staged.describe();
  if (here.ok() && jobs::DigestFingerprint(*here) !=
                       jobs::DigestFingerprint(plan.device_fingerprint())) {
    staged.note(
        "the plan was measured on other devices than these: the errors as "
        "planned compare two machines; validate it where it was made to see "
        "those of the plan");
  }
  if (probes.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(here.status());
  return RecordStagedEvidence(plan, probes, measured, *here, store);
}

}  // namespace meshwright::validation
