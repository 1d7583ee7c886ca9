// AuditedChange: a change that a call makes, and its entry in the audit log.
//
// Concept: it stands around the change. The store writes the entry's row in
// the transaction of the first change of plans or orders that this thread makes
// meanwhile (profiledb/store/audit.h). Record says how it came out: the entry
// goes to the logs, and its row to the store where no change took it along.
// Threads and ownership: the thread that makes the change; the guard outlives
// it. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_AUDIT_AUDITED_CHANGE_H_
#define MESHWRIGHT_COORDINATOR_AUDIT_AUDITED_CHANGE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "coordinator/security/guard.h"
#include "profiledb/store/audit.h"

namespace meshwright::audit {

class AuditedChange {
 public:
  // `coordinator`: as rows name this one; empty: it keeps none. `object`: what
  // the change is about; empty: the change says it.
  AuditedChange(const security::Guard& guard, const std::string& coordinator,
                const security::Call& call, const std::string& who,
                const std::string& object = "");

  // Once. `object`: in place of an empty one.
  void Record(const absl::Status& outcome, const std::string& object = "");

 private:
  const security::Guard& guard_;
  const security::Call call_;
  const std::string who_;
  const std::string object_;
  std::optional<store::AuditScope> scope_;
};

}  // namespace meshwright::audit

#endif  // MESHWRIGHT_COORDINATOR_AUDIT_AUDITED_CHANGE_H_
