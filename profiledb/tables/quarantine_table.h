// QuarantineTable: programs that crash and rows that were set aside.
//
// Threads and ownership: those of its database, which outlives it. Writes need
// a transaction around them. Errors: those of Database.
#ifndef MESHWRIGHT_PROFILEDB_TABLES_QUARANTINE_TABLE_H_
#define MESHWRIGHT_PROFILEDB_TABLES_QUARANTINE_TABLE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiledb/store/profile_store.h"
#include "profiledb/tables/database.h"

namespace meshwright::tables {

class QuarantineTable {
 public:
  // Of a database with its schema, which outlives it. Errors here and below:
  // those of the database.
  static absl::StatusOr<std::unique_ptr<QuarantineTable>> Open(
      Database& database);

  // How often the program has crashed now.
  absl::StatusOr<int> AddCrashes(const std::string& key, int crashes,
                                 std::string_view reason, std::string_view log,
                                 store::Nanoseconds now);
  // Leaves an entry of a program that crashes as it is.
  absl::Status AddDamaged(const std::string& key, std::string_view reason,
                          store::Nanoseconds now);
  // Whether there was an entry.
  absl::StatusOr<bool> Forget(const std::string& key);
  // Whether there is an entry.
  absl::StatusOr<bool> Has(const std::string& key);
  // Whether its program is not to be run again.
  absl::StatusOr<bool> Holds(const std::string& key);
  // Empty where there are no entries.
  absl::StatusOr<std::vector<store::QuarantineEntry>> List();

 private:
  explicit QuarantineTable(std::vector<std::unique_ptr<Statement>> statements)
      : statements_(std::move(statements)) {}

  absl::StatusOr<bool> IsAny(int statement, const std::string& key);

  std::vector<std::unique_ptr<Statement>> statements_;
};

}  // namespace meshwright::tables

#endif  // MESHWRIGHT_PROFILEDB_TABLES_QUARANTINE_TABLE_H_
