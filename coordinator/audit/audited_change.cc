#include "coordinator/audit/audited_change.h"

#include "coordinator/audit/stored_audit_log.h"

namespace meshwright::audit {

AuditedChange::AuditedChange(const security::Guard& guard,
                             const std::string& coordinator,
                             const security::Call& call, const std::string& who,
                             const std::string& object)
    : guard_(guard), call_(call), who_(who), object_(object) {
  if (coordinator.empty()) return;
  scope_.emplace(MakeRow(guard.MakeEntry(call, who, absl::OkStatus(), object),
                         coordinator));
}

void AuditedChange::Record(const absl::Status& outcome,
                           const std::string& object) {
  security::AuditEntry entry = guard_.MakeEntry(
      call_, who_, outcome, object_.empty() ? object : object_);
  entry.is_stored = scope_.has_value() && scope_->is_written() && outcome.ok();
  guard_.Record(entry);
}

}  // namespace meshwright::audit
