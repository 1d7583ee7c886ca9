// The SQL of a plan store, for every database (docs/formats/store.md).
//
// Threads: constants. Errors: none.
#ifndef MESHWRIGHT_PROFILEDB_TABLES_PLAN_STATEMENTS_H_
#define MESHWRIGHT_PROFILEDB_TABLES_PLAN_STATEMENTS_H_

namespace meshwright::tables {

// In the order of kPlanSql.
enum PlanStatement {
  kRaiseEpoch,
  kReadEpoch,
  kEndTerm,
  kFindSubmission,
  kInsertPlan,
  kUnfinished,
  kOfNamespace,
  kReadPlan,
  kWriteRecord,
  kInsertUpdate,
  kReadUpdates,
  kCountByState,
  kRemoveUpdates,
  kRemovePlan,
  kSetAside,
  kReadPlansAfter
};

inline constexpr const char* kPlanSql[] = {
    "INSERT INTO epochs (id, epoch, holder) VALUES (1, 1, ?1) ON CONFLICT (id) "
    "DO UPDATE SET epoch = epochs.epoch + 1, holder = excluded.holder, "
    "expires_unix_ms = 0 RETURNING epoch",

    "SELECT epoch FROM epochs WHERE id = 1",

    "UPDATE epochs SET expires_unix_ms = 0 WHERE id = 1 AND epoch = ?1",

    "SELECT id FROM plans WHERE namespace = ?1 AND owner = ?2 AND "
    "request_id = ?3",

    "INSERT INTO plans (namespace, owner, request_id, state, record) "
    "VALUES (?1, ?2, ?3, 0, ?4) RETURNING id",

    // QUEUED to SEARCHING.
    "SELECT id, state, record, checksum FROM plans WHERE namespace = ?1 AND "
    "state BETWEEN 1 AND 5",

    "SELECT id, state, record, checksum FROM plans WHERE namespace = ?1 AND "
    "state > 0",

    "SELECT id, state, record, checksum, plan, plan_checksum FROM plans "
    "WHERE id = ?1",

    "UPDATE plans SET state = ?2, record = ?3, plan = ?4, checksum = ?5, "
    "plan_checksum = ?6 WHERE id = ?1",

    "INSERT INTO plan_updates (plan, sequence, content, checksum) "
    "VALUES (?1, ?2, ?3, ?4)",

    "SELECT sequence, content, checksum FROM plan_updates WHERE plan = ?1 AND "
    "sequence > ?2 ORDER BY sequence LIMIT ?3",

    "SELECT state, COUNT(*) FROM plans WHERE state > 0 GROUP BY state",

    // DONE, FAILED or CANCELLED.
    "DELETE FROM plan_updates WHERE plan = ?1 AND EXISTS "
    "(SELECT 1 FROM plans WHERE id = ?1 AND state >= 6)",

    "DELETE FROM plans WHERE id = ?1 AND state >= 6 RETURNING id",

    "UPDATE plans SET state = 0, request_id = NULL WHERE id = ?1",

    "SELECT id, state, record, checksum, plan, plan_checksum, namespace "
    "FROM plans WHERE id > ?1 ORDER BY id LIMIT 100",
};

}  // namespace meshwright::tables

#endif  // MESHWRIGHT_PROFILEDB_TABLES_PLAN_STATEMENTS_H_
