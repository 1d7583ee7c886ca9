// PreparePostgresSchema: brings a database to the newest schema.
//
// Concept: the tables stand in the first schema of the connection's search
// path. In one transaction under the write lock, so that of several processes
// that open a new database at once one creates them.
// Errors: kFailedPrecondition for a store of a newer version, kInvalidArgument
// for a database with tables of another program, or one whose texts are not
// UTF-8.
#ifndef MESHWRIGHT_PROFILEDB_POSTGRES_POSTGRES_SCHEMA_H_
#define MESHWRIGHT_PROFILEDB_POSTGRES_POSTGRES_SCHEMA_H_

#include "absl/status/status.h"
#include "profiledb/tables/database.h"

namespace meshwright::postgres {

absl::Status PreparePostgresSchema(tables::Database& database);

}  // namespace meshwright::postgres

#endif  // MESHWRIGHT_PROFILEDB_POSTGRES_POSTGRES_SCHEMA_H_
