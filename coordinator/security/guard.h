// Guard: decides for every call whether its caller may make it.
//
// Concept: a call comes with its RPC, its token and its client certificate. The
// table of rpc_roles.h says the role that the RPC needs, the token file says
// the roles that the token has. The decision is made before a call reaches its
// handler, in one place (coordinator/service/server_credentials.h); handlers
// ask Identify who it is.
//   Without a token file everyone is admitted; who it is then, the certificate
// says. Tokens of this process (AddLocalToken) are known either way.
// A token is looked at when its call begins. A stream asks MayGoOn while it is
// open, so that it ends when its token expires, is revoked or loses its role.
// Threads: any. Errors: Open and Reload give what ReadTokenFile does; a file
// that is wrong leaves the old tokens in force. Admit gives kUnauthenticated
// (no token, an unknown or expired one), kPermissionDenied (not the role) or
// kUnimplemented (no such RPC). Each is one sentence with the way out.
// Ownership: what Options points to outlives the guard.
#ifndef MESHWRIGHT_COORDINATOR_SECURITY_GUARD_H_
#define MESHWRIGHT_COORDINATOR_SECURITY_GUARD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "coordinator/security/audit_log.h"
#include "coordinator/security/quota.h"
#include "coordinator/security/token.h"

namespace meshwright::security {

struct Call {
  std::string path;           // "/package.Service/Method"
  std::string authorization;  // of its metadata, "Bearer TEXT"; empty: none
  std::string certificate;    // the client's common name; empty: none
  std::string peer;
};

struct Caller {
  // "token:ID", "certificate:NAME"; empty: anyone.
  std::string id;
  std::string name_space;
  std::vector<Role> roles;
};

class Guard {
 public:
  struct Options {
    const base::Clock* clock = nullptr;
    std::string token_file;     // empty: everyone may do everything
    AuditLog* audit = nullptr;  // null: none
  };

  // Reads the token file. Errors: those of ReadTokenFile.
  static absl::StatusOr<std::unique_ptr<Guard>> Open(const Options& options);

  // OK: the caller may make this call. Errors: see above.
  absl::Status Admit(const Call& call) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Of a call that was admitted and is still open; its errors are Admit's.
  absl::Status MayGoOn(const Call& call) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Who makes the call. Errors: kUnauthenticated, as Admit's. Without a token
  // file it gives an administrator.
  absl::StatusOr<Caller> Identify(const Call& call) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Without a number where the token file has none for the namespace.
  Quota FindQuota(const std::string& name_space) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Of the namespaces that have one, by name.
  std::vector<Quota> ListQuotas() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Of what was done of `object`, now.
  AuditEntry MakeEntry(const Call& call, const std::string& who,
                       const absl::Status& outcome,
                       const std::string& object = "") const;
  // Writes it to the audit log, if there is one.
  void Record(const AuditEntry& entry) const;
  void Record(const Call& call, const std::string& who,
              const absl::Status& outcome,
              const std::string& object = "") const {
    Record(MakeEntry(call, who, outcome, object));
  }
  // The same of a call that was admitted, unless it only reads.
  void RecordAdmitted(const Call& call) const;

  // Reads the token file again.
  absl::Status Reload() ABSL_LOCKS_EXCLUDED(reading_, mutex_);
  // The same if it is another one than was read last, right or wrong, or if
  // that reading failed; whether it was read. An error that stands is given
  // once.
  absl::StatusOr<bool> ReloadIfChanged() ABSL_LOCKS_EXCLUDED(reading_, mutex_);
  // The text of a token with this role, which no file holds and which lives as
  // long as the guard.
  absl::StatusOr<std::string> AddLocalToken(Role role)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Tokens = std::map<std::string, Token>;
  // Of a file: one that is changed, gets another mode or owner, or is put in
  // its place has another one.
  struct Stamp {
    uint64_t inode = 0;  // all zero: there is no file
    int64_t bytes = 0;
    absl::Time changed = absl::UnixEpoch();
    bool operator==(const Stamp&) const = default;
  };

  explicit Guard(const Options& options) : options_(options) {}
  absl::StatusOr<Caller> CheckToken(const std::string& text) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  static Stamp ReadStamp(const std::string& file);
  absl::Status Read(const Stamp& stamp) ABSL_EXCLUSIVE_LOCKS_REQUIRED(reading_)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const Options options_;
  // Held while the file is read, so that the newest reading stays.
  base::Mutex reading_;
  Stamp stamp_ ABSL_GUARDED_BY(reading_);
  absl::Status read_ ABSL_GUARDED_BY(reading_);  // the last time
  mutable base::Mutex mutex_;
  Tokens tokens_ ABSL_GUARDED_BY(mutex_);  // by id
  Tokens local_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Quota> quotas_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::security

#endif  // MESHWRIGHT_COORDINATOR_SECURITY_GUARD_H_
