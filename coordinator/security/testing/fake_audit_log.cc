#include "coordinator/security/testing/fake_audit_log.h"

namespace meshwright::security {

void FakeAuditLog::Record(const AuditEntry& entry) {
  base::MutexLock lock(&mutex_);
  entries_.push_back(entry);
}

std::vector<AuditEntry> FakeAuditLog::entries() const {
  base::MutexLock lock(&mutex_);
  return entries_;
}

}  // namespace meshwright::security
