#include "profiledb/schema/migrations.h"

namespace meshwright::schema {
namespace {

// `namespace` is the team that owns a row; "shared" is the common pool.
constexpr char kProfilesAndPrograms[] = R"sql(
CREATE TABLE profiles (
  namespace        TEXT    NOT NULL,
  key              TEXT    NOT NULL,
  outcome          INTEGER NOT NULL,
  result           BLOB    NOT NULL,
  host             TEXT    NOT NULL,
  worker           TEXT    NOT NULL,
  recorded_unix_ns INTEGER NOT NULL,
  PRIMARY KEY (namespace, key)
) WITHOUT ROWID;

CREATE INDEX profiles_by_key ON profiles (key);

CREATE TABLE programs (
  key       TEXT    NOT NULL PRIMARY KEY,
  hlo_zstd  BLOB    NOT NULL,
  hlo_bytes INTEGER NOT NULL
);
)sql";

// Version 1's rows are converted from profiles_version_1 in between.
constexpr char kMeasurements[] = R"sql(
DROP INDEX profiles_by_key;
ALTER TABLE profiles RENAME TO profiles_version_1;

CREATE TABLE profiles (
  id            INTEGER PRIMARY KEY,
  namespace     TEXT    NOT NULL,
  key           BLOB    NOT NULL CHECK (length(key) = 32),
  outcome       INTEGER NOT NULL,
  quality       INTEGER NOT NULL,
  result        BLOB    NOT NULL,
  checksum      INTEGER NOT NULL,
  last_used_day INTEGER NOT NULL,
  UNIQUE (namespace, key)
);

CREATE TABLE measurements (
  profile          INTEGER NOT NULL,
  number           INTEGER NOT NULL,
  recorded_unix_ns INTEGER NOT NULL,
  quality          INTEGER NOT NULL,
  host             TEXT    NOT NULL,
  worker           TEXT    NOT NULL,
  device_id        TEXT    NOT NULL,
  machine          TEXT    NOT NULL,
  result           BLOB,
  checksum         INTEGER NOT NULL,
  PRIMARY KEY (profile, number)
) WITHOUT ROWID;

CREATE TABLE quarantine (
  key              TEXT    NOT NULL PRIMARY KEY,
  state            INTEGER NOT NULL,
  crashes          INTEGER NOT NULL,
  reason           TEXT    NOT NULL,
  log              TEXT    NOT NULL,
  recorded_unix_ns INTEGER NOT NULL
);
)sql";

// The work of the service, beside the profiles.
constexpr char kPlans[] = R"sql(
CREATE TABLE plans (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace  TEXT    NOT NULL,
  owner      TEXT    NOT NULL,
  request_id TEXT,
  state      INTEGER NOT NULL,
  record     BLOB    NOT NULL,
  plan       BLOB,
  UNIQUE (namespace, owner, request_id)
);

CREATE INDEX plans_by_state ON plans (state);

CREATE TABLE plan_updates (
  plan     INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  content  BLOB    NOT NULL,
  PRIMARY KEY (plan, sequence)
) WITHOUT ROWID;

CREATE TABLE devices (
  digest  TEXT NOT NULL PRIMARY KEY,
  content BLOB NOT NULL
);

CREATE TABLE epochs (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  epoch  INTEGER NOT NULL,
  holder TEXT    NOT NULL
);
)sql";

// Of several coordinators one leads, for a term.
constexpr char kLeadership[] = R"sql(
ALTER TABLE epochs ADD COLUMN expires_unix_ms INTEGER NOT NULL DEFAULT 0;
)sql";

constexpr char kWorkerOrders[] = R"sql(
CREATE TABLE worker_orders (
  worker  TEXT NOT NULL PRIMARY KEY,
  content BLOB NOT NULL
);
)sql";

// Null in rows of an older version.
constexpr char kPlanChecksums[] = R"sql(
ALTER TABLE plans ADD COLUMN checksum INTEGER;
ALTER TABLE plans ADD COLUMN plan_checksum INTEGER;
ALTER TABLE plan_updates ADD COLUMN checksum INTEGER;
)sql";

// Beside the programs: a row of theirs has megabytes, and SQLite writes it
// whole for every change. Those that are there count as used on this day.
constexpr char kProgramUses[] = R"sql(
CREATE TABLE program_uses (
  key           TEXT    NOT NULL PRIMARY KEY,
  last_used_day INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO program_uses
  SELECT key, CAST(strftime('%s', 'now') AS INTEGER) / 86400 FROM programs;
)sql";

// What coordinators of one store share: what was done, and the workers of the
// one that leads.
constexpr char kAuditAndWorkers[] = R"sql(
CREATE TABLE audit (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  digest      TEXT    NOT NULL UNIQUE,
  unix_ns     INTEGER NOT NULL,
  coordinator TEXT    NOT NULL,
  who         TEXT    NOT NULL,
  peer        TEXT    NOT NULL,
  what        TEXT    NOT NULL,
  object      TEXT    NOT NULL,
  outcome     TEXT    NOT NULL,
  reason      TEXT    NOT NULL,
  left_out    INTEGER NOT NULL
);

CREATE INDEX audit_by_time ON audit (unix_ns);

CREATE TABLE workers (
  worker       TEXT    NOT NULL PRIMARY KEY,
  host         TEXT    NOT NULL,
  platform     TEXT    NOT NULL,
  device_kind  TEXT    NOT NULL,
  device_count INTEGER NOT NULL,
  reason       TEXT    NOT NULL,
  seen_unix_ns INTEGER NOT NULL
);
)sql";

constexpr char kDropVersion1[] = "DROP TABLE profiles_version_1";

}  // namespace

const std::vector<Migration>& ListMigrations() {
  static const auto& kMigrations = *new std::vector<Migration>{
      {.version = 1, .sql = kProfilesAndPrograms},
      {.version = 2, .sql = kMeasurements, .cleanup_sql = kDropVersion1},
      {.version = 3, .sql = kPlans},
      {.version = 4, .sql = kLeadership},
      {.version = 5, .sql = kWorkerOrders},
      {.version = 6, .sql = kPlanChecksums},
      {.version = 7, .sql = kProgramUses},
      {.version = 8, .sql = kAuditAndWorkers},
  };
  return kMigrations;
}

int FindNewestVersion() { return ListMigrations().back().version; }

}  // namespace meshwright::schema
