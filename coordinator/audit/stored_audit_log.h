// StoredAuditLog: the audit log as rows of the store, beside another log.
//
// Concept: coordinators over one store share one log this way. An entry goes to
// the other log at once, and to a thread that writes rows, many in one
// transaction. Entries whose row was written with their change (is_stored) are
// not written again. While the store is away rows wait in memory, so many of
// them. Of refusals there are so many rows a second; the next one says how many
// were left out. Rows are kept for kKept.
//
//   Record ──▶ the other log
//      └─────▶ waiting ── RecordAudit ──▶ rows ── kKept is over ──▶ removed
//
// Threads and ownership: Record from any. What Options points to outlives it.
// Errors: none of Record; what is lost is a line of the log. At its end it
// writes what waits, unless the store does not take it.
#ifndef MESHWRIGHT_COORDINATOR_AUDIT_STORED_AUDIT_LOG_H_
#define MESHWRIGHT_COORDINATOR_AUDIT_STORED_AUDIT_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "coordinator/security/audit_log.h"
#include "profiledb/store/plan_store.h"

namespace meshwright::audit {

inline constexpr absl::Duration kKept = absl::Hours(24 * 400);

// The row of an entry that this coordinator made.
store::AuditRow MakeRow(const security::AuditEntry& entry,
                        const std::string& coordinator);

class StoredAuditLog : public security::AuditLog {
 public:
  struct Options {
    store::PlanStore* plans = nullptr;
    security::AuditLog* other = nullptr;  // null: none
    std::string coordinator;              // as rows name this one
    const base::Clock* clock = nullptr;   // of what is kept
    int refusals_per_second = 5;
    size_t waiting = 8192;
    absl::Duration pause = absl::Seconds(1);  // while the store is away
  };

  explicit StoredAuditLog(Options options);
  ~StoredAuditLog() override;
  StoredAuditLog(const StoredAuditLog&) = delete;
  StoredAuditLog& operator=(const StoredAuditLog&) = delete;

  void Record(const security::AuditEntry& entry) override
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  bool IsTooMany(const security::AuditEntry& entry)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // False: it is over, and the store does not take them.
  bool Write(const std::vector<store::AuditRow>& rows)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void RemoveOld();

  const Options options_;
  absl::Time removed_ = absl::InfinitePast();  // of the thread's

  base::Mutex mutex_;
  std::deque<store::AuditRow> rows_ ABSL_GUARDED_BY(mutex_);
  int64_t lost_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t second_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t refusals_ ABSL_GUARDED_BY(mutex_) = 0;  // of this second
  int64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // last: joined before the rest is destroyed
};

}  // namespace meshwright::audit

#endif  // MESHWRIGHT_COORDINATOR_AUDIT_STORED_AUDIT_LOG_H_
