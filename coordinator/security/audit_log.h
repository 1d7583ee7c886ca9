// AuditLog: who did what, when, and what came of it.
//
// Concept: one entry for every call that changes something (roles submit, work,
// admin) and for every call that was refused. An entry never holds a secret:
// tokens are named by their ids. Calls wait for no disk: a thread writes.
// Whoever may not call could fill the disk with refusals, so there are so many
// a second and the next one says how many were left out. Threads: any. Errors:
// an entry that cannot be written is a line of the log; the call goes on.
#ifndef MESHWRIGHT_COORDINATOR_SECURITY_AUDIT_LOG_H_
#define MESHWRIGHT_COORDINATOR_SECURITY_AUDIT_LOG_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace meshwright::security {

inline constexpr char kAdmitted[] = "admitted";

struct AuditEntry {
  absl::Time when;
  std::string who;          // Caller::id; empty: unknown
  std::string peer;         // where from, as gRPC writes it; empty: unknown
  std::string what;         // the RPC, or another word for the deed
  std::string outcome;      // "admitted", or the code of a refusal
  std::string reason;       // of a refusal
  std::string object = {};  // "plan-7", a worker or job; empty: none is named
  bool is_stored = false;   // the store has it, with the change that it is of
};

class AuditLog {
 public:
  virtual ~AuditLog() = default;
  // From any thread. Errors are the log's own: a call does not fail by it.
  virtual void Record(const AuditEntry& entry) = 0;
};

// Appends a JSON object and a newline for each entry. The file is opened for
// every entry, with mode 0600 where it is new, so that it may be rotated. At
// its end all entries are written. Errors: errno's, where the file cannot be
// written at the start.
absl::StatusOr<std::unique_ptr<AuditLog>> OpenJsonLinesAuditLog(
    const std::string& path);

// Each entry is a line of the daemon's log.
std::unique_ptr<AuditLog> NewLoggedAuditLog();

}  // namespace meshwright::security

#endif  // MESHWRIGHT_COORDINATOR_SECURITY_AUDIT_LOG_H_
