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

}  // namespace

const std::vector<Migration>& Migrations() {
  static const auto& kMigrations = *new std::vector<Migration>{
      {.version = 1, .sql = kProfilesAndPrograms},
  };
  return kMigrations;
}

int NewestVersion() { return Migrations().back().version; }

}  // namespace meshwright::schema
