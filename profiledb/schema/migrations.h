// ListMigrations: the numbered steps that bring a store to the newest schema.
//
// Concept: a store carries the number of its last migration (SQLite: the
// pragma user_version) and a mark that it is ours (application_id). Opening
// applies what is missing, in one transaction. A migration is frozen once
// released: a change is a new one. schema_test.cc holds their fingerprints.
//
// SQLite:
//   empty file (0) ──1──▶ profiles, programs (1) ──2──▶ several measurements
//                                                       for each profile (2)
//        ──3──▶ plans, their updates, devices, epochs (3)
//        ──4──▶ terms of leaders (4) ──5──▶ orders of workers (5)
//        ──6──▶ checksums of plans (6) ──7──▶ last uses of programs (7)
//        ──8──▶ audit log and workers (8)
//
// Stored enums: `outcome` is the number of v1.Outcome, `quality` of v1.Quality,
// `state` of store::QuarantineState, that of a plan of v1.PlanState.
// See docs/formats/store.md.
#ifndef MESHWRIGHT_PROFILEDB_SCHEMA_MIGRATIONS_H_
#define MESHWRIGHT_PROFILEDB_SCHEMA_MIGRATIONS_H_

#include <cstdint>
#include <vector>

namespace meshwright::schema {

struct Migration {
  int version = 0;  // after it was applied
  const char* sql = nullptr;
  // Run after the store has converted its rows; null: there is nothing to do.
  const char* cleanup_sql = nullptr;
};

// In rising order of version, without gaps, from 1.
const std::vector<Migration>& ListMigrations();

int FindNewestVersion();

// PostgreSQL's own, with a number in the table meshwright_store. Version 1 has
// the tables of SQLite's version 2, and so on, with the same numbers in them.
const std::vector<Migration>& ListPostgresMigrations();

int FindNewestPostgresVersion();

// "MWpf" in ASCII: what `file` and sqlite3_file_control see.
inline constexpr int32_t kApplicationId = 0x4d577066;

}  // namespace meshwright::schema

#endif  // MESHWRIGHT_PROFILEDB_SCHEMA_MIGRATIONS_H_
