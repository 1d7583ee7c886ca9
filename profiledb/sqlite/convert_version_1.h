// ConvertVersion1: the rows of a store of version 1, in the tables of
// version 2.
//
// Concept: within the migration's transaction. Each row becomes one measurement
// of an unknown machine, so no present planner asks for it. The rest of it can
// be read. A row that is damaged or absurd goes to the quarantine. Read rows
// are deleted in batches, so that the new tables use their pages.
// Errors: those of SqliteDatabase.
#ifndef MESHWRIGHT_PROFILEDB_SQLITE_CONVERT_VERSION_1_H_
#define MESHWRIGHT_PROFILEDB_SQLITE_CONVERT_VERSION_1_H_

#include "absl/status/status.h"
#include "profiledb/sqlite/sqlite_database.h"

namespace meshwright::sqlite {

// From profiles_version_1, which is empty afterwards.
absl::Status ConvertVersion1(SqliteDatabase& database);

}  // namespace meshwright::sqlite

#endif  // MESHWRIGHT_PROFILEDB_SQLITE_CONVERT_VERSION_1_H_
