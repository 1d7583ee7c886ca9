// FakeAuditLog: keeps the entries. Threads: any.
#ifndef MESHWRIGHT_COORDINATOR_SECURITY_TESTING_FAKE_AUDIT_LOG_H_
#define MESHWRIGHT_COORDINATOR_SECURITY_TESTING_FAKE_AUDIT_LOG_H_

#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "coordinator/security/audit_log.h"

namespace meshwright::security {

class FakeAuditLog : public AuditLog {
 public:
  void Record(const AuditEntry& entry) override ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<AuditEntry> entries() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  mutable base::Mutex mutex_;
  std::vector<AuditEntry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::security

#endif  // MESHWRIGHT_COORDINATOR_SECURITY_TESTING_FAKE_AUDIT_LOG_H_
