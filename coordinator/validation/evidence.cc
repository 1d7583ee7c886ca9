#include "coordinator/validation/evidence.h"

#include "base/status_macros.h"

namespace meshwright::validation {

absl::Status RecordEvidence(const Validation& validation,
                            const Results& results,
                            store::ProfileStore* store) {
  for (const Probe& probe : validation.probes) {
    const auto row = results.find(probe.program.key());
    if (row == results.end() || row->second.outcome() != v1::MEASURED) continue;
    RETURN_IF_ERROR(store->Record(
        row->second, store::MakeOrigin(row->second, validation.machine)));
  }
  return absl::OkStatus();
}

}  // namespace meshwright::validation
