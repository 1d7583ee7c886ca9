// AuditRow, AuditScope: who did what, as a store of plans keeps it.
//
// Concept: coordinators over one store share one audit log. Its rows are added
// and, when they are old, removed; none is changed. The row of a deed that
// changes plans or orders is written in the transaction of that change: neither
// is there without the other. So the thread that serves the call opens a scope
// with the row, and the first such change that it makes writes both.
//
//   AuditScope(row) ── Add | Append | SetOrder ──▶ is_written
//        └── no change, or it was refused ──▶ RecordAudit(row) by the owner
//
// Threads and ownership: a scope belongs to the thread that opened it. Scopes
// of one thread are nested; the inner one counts. Errors: none.
#ifndef MESHWRIGHT_PROFILEDB_STORE_AUDIT_H_
#define MESHWRIGHT_PROFILEDB_STORE_AUDIT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/time/time.h"

namespace meshwright::store {

struct AuditRow {
  int64_t number = 0;       // rising; the store gives it
  absl::Time when;          // in whole nanoseconds
  std::string coordinator;  // that took the call
  std::string who;          // "token:ID", "certificate:NAME"; empty: unknown
  std::string peer;
  std::string what;    // the RPC
  std::string object;  // "plan-7", a worker, ...; empty: none is named
  std::string outcome;
  std::string reason;
  int64_t left_out = 0;  // refusals before it that have no row
};

// Equal for rows that are equal but for their numbers; 64 hex digits. A row
// that is recorded again is there once.
std::string DigestAudit(const AuditRow& row);

// With texts that every database takes (text.h).
AuditRow CleanAudit(AuditRow row);

class AuditScope {
 public:
  explicit AuditScope(AuditRow row);
  ~AuditScope();
  AuditScope(const AuditScope&) = delete;
  AuditScope& operator=(const AuditScope&) = delete;

  // Whether a change has written the row.
  bool is_written() const { return is_written_; }

  // ---- stores
  // The one of this thread whose row is not written yet; null: there is none.
  static AuditScope* FindOpen();
  // `object`: what the change is about; it counts where the row names none.
  AuditRow MakeRow(const std::string& object) const;
  // A change is durable, with the row.
  void NoteWritten() { is_written_ = true; }

 private:
  const AuditRow row_;
  AuditScope* const outer_;
  bool is_written_ = false;
};

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_AUDIT_H_
