#include "profiledb/tables/database.h"

#include <cstdlib>
#include <utility>

#include "base/status_macros.h"

namespace meshwright::tables {

void Statement::BindBlobs(int parameter, absl::Span<const std::string> blobs) {
  std::abort();  // HasArrays() was not asked
}

absl::Status Statement::Run() {
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, Step());
    if (!has_row) return {};
  }
}

absl::StatusOr<int64_t> Database::QueryInteger(const std::string& sql) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Statement> statement, Prepare(sql));
  ASSIGN_OR_RETURN(const bool has_row, statement->Step());
  if (!has_row) return absl::InternalError("no row from: " + sql);
  return statement->Integer(0);
}

absl::StatusOr<std::vector<std::unique_ptr<Statement>>> Database::PrepareAll(
    absl::Span<const char* const> sql) {
  std::vector<std::unique_ptr<Statement>> statements;
  for (const char* const text : sql) {
    ASSIGN_OR_RETURN(std::unique_ptr<Statement> statement, Prepare(text));
    statements.push_back(std::move(statement));
  }
  return statements;
}

}  // namespace meshwright::tables
