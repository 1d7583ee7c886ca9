#include "profiledb/schema/migrations.h"

namespace meshwright::schema {
namespace {

// The tables of SQLite's version 2 (migrations.cc). Texts order by their bytes.
// The output of a dying program is bytes: a PostgreSQL text holds no NUL and
// nothing but its encoding.
constexpr char kPostgresTables[] = R"sql(
CREATE TABLE meshwright_store (
  version INTEGER NOT NULL
);
INSERT INTO meshwright_store VALUES (0);

CREATE TABLE profiles (
  id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace     TEXT COLLATE "C" NOT NULL,
  key           BYTEA   NOT NULL CHECK (octet_length(key) = 32),
  outcome       INTEGER NOT NULL,
  quality       INTEGER NOT NULL,
  result        BYTEA   NOT NULL,
  checksum      BIGINT  NOT NULL,
  last_used_day BIGINT  NOT NULL,
  UNIQUE (namespace, key)
);

CREATE TABLE measurements (
  profile          BIGINT  NOT NULL,
  number           INTEGER NOT NULL,
  recorded_unix_ns BIGINT  NOT NULL,
  quality          INTEGER NOT NULL,
  host             TEXT    NOT NULL,
  worker           TEXT    NOT NULL,
  device_id        TEXT    NOT NULL,
  machine          TEXT    NOT NULL,
  result           BYTEA,
  checksum         BIGINT  NOT NULL,
  PRIMARY KEY (profile, number)
);

CREATE TABLE quarantine (
  key              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  state            INTEGER NOT NULL,
  crashes          INTEGER NOT NULL,
  reason           BYTEA   NOT NULL,
  log              BYTEA   NOT NULL,
  recorded_unix_ns BIGINT  NOT NULL
);

CREATE TABLE programs (
  key       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  hlo_zstd  BYTEA  NOT NULL,
  hlo_bytes BIGINT NOT NULL
);
ALTER TABLE programs ALTER COLUMN hlo_zstd SET STORAGE EXTERNAL;
)sql";

// Those of SQLite's version 3.
constexpr char kPostgresPlans[] = R"sql(
CREATE TABLE plans (
  id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace  TEXT    NOT NULL,
  owner      TEXT    NOT NULL,
  request_id TEXT,
  state      INTEGER NOT NULL,
  record     BYTEA   NOT NULL,
  plan       BYTEA,
  UNIQUE (namespace, owner, request_id)
);

CREATE INDEX plans_by_state ON plans (state);

CREATE TABLE plan_updates (
  plan     BIGINT NOT NULL,
  sequence BIGINT NOT NULL,
  content  BYTEA  NOT NULL,
  PRIMARY KEY (plan, sequence)
);

CREATE TABLE devices (
  digest  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  content BYTEA NOT NULL
);

CREATE TABLE epochs (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  epoch  BIGINT  NOT NULL,
  holder TEXT    NOT NULL
);
)sql";

// That of SQLite's version 4.
constexpr char kPostgresLeadership[] = R"sql(
ALTER TABLE epochs ADD COLUMN expires_unix_ms BIGINT NOT NULL DEFAULT 0;
)sql";

// That of SQLite's version 5. A worker's name is what it says it is.
constexpr char kPostgresWorkerOrders[] = R"sql(
CREATE TABLE worker_orders (
  worker  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  content BYTEA NOT NULL
);
)sql";

// That of SQLite's version 6.
constexpr char kPostgresPlanChecksums[] = R"sql(
ALTER TABLE plans ADD COLUMN checksum BIGINT;
ALTER TABLE plans ADD COLUMN plan_checksum BIGINT;
ALTER TABLE plan_updates ADD COLUMN checksum BIGINT;
)sql";

// That of SQLite's version 7.
constexpr char kPostgresProgramUses[] = R"sql(
CREATE TABLE program_uses (
  key           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  last_used_day BIGINT NOT NULL
);

INSERT INTO program_uses
  SELECT key, CAST(EXTRACT(EPOCH FROM now()) AS BIGINT) / 86400 FROM programs;
)sql";

// That of SQLite's version 8.
constexpr char kPostgresAuditAndWorkers[] = R"sql(
CREATE TABLE audit (
  id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  digest      TEXT COLLATE "C" NOT NULL UNIQUE,
  unix_ns     BIGINT NOT NULL,
  coordinator TEXT   NOT NULL,
  who         TEXT   NOT NULL,
  peer        TEXT   NOT NULL,
  what        TEXT   NOT NULL,
  object      TEXT   NOT NULL,
  outcome     TEXT   NOT NULL,
  reason      TEXT   NOT NULL,
  left_out    BIGINT NOT NULL
);

CREATE INDEX audit_by_time ON audit (unix_ns);

CREATE TABLE workers (
  worker       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  host         TEXT    NOT NULL,
  platform     TEXT    NOT NULL,
  device_kind  TEXT    NOT NULL,
  device_count INTEGER NOT NULL,
  reason       TEXT    NOT NULL,
  seen_unix_ns BIGINT  NOT NULL
);
)sql";

}  // namespace

const std::vector<Migration>& ListPostgresMigrations() {
  static const auto& kMigrations = *new std::vector<Migration>{
      {.version = 1, .sql = kPostgresTables},
      {.version = 2, .sql = kPostgresPlans},
      {.version = 3, .sql = kPostgresLeadership},
      {.version = 4, .sql = kPostgresWorkerOrders},
      {.version = 5, .sql = kPostgresPlanChecksums},
      {.version = 6, .sql = kPostgresProgramUses},
      {.version = 7, .sql = kPostgresAuditAndWorkers},
  };
  return kMigrations;
}

int FindNewestPostgresVersion() {
  return ListPostgresMigrations().back().version;
}

}  // namespace meshwright::schema
