// ProgramTable: each program once, compressed.
//
// Threads and ownership: those of its database, which outlives it. Writes need
// a transaction around them.
// Errors: those of Database; kNotFound for an unknown program, kDataLoss for
// one that does not unpack.
#ifndef MESHWRIGHT_PROFILEDB_TABLES_PROGRAM_TABLE_H_
#define MESHWRIGHT_PROFILEDB_TABLES_PROGRAM_TABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiledb/store/profile_store.h"
#include "profiledb/tables/database.h"

namespace meshwright::tables {

class ProgramTable {
 public:
  // An HLO that does not unpack is its error.
  using Visit = std::function<absl::Status(
      const std::string& key, const absl::StatusOr<std::string>& hlo)>;

  // Of a database with its schema, which outlives it. Errors here and below:
  // those of the database.
  static absl::StatusOr<std::unique_ptr<ProgramTable>> Open(Database& database);

  // Leaves a known key as it is. `compressed` is what Compress made.
  absl::Status Add(const std::string& key, std::string_view compressed,
                   int64_t hlo_bytes);
  // Of the HLO before it was compressed; nullopt: no such program.
  absl::StatusOr<std::optional<int64_t>> FindBytes(const std::string& key);
  // The HLO. kNotFound for an unknown key, kDataLoss for one that does not
  // unpack.
  absl::StatusOr<std::string> Find(const std::string& key);
  // Used on this day; an earlier one than known, and an unknown key: nothing.
  absl::Status Touch(const std::string& key, int64_t day);
  // Zero for an unknown key, here and below: no use of it is known.
  absl::StatusOr<int64_t> FindLastUse(const std::string& key);
  // By key, those that were last used before the day.
  absl::StatusOr<std::vector<store::ProgramUse>> ListUnused(int64_t day);
  // An unknown key: nothing.
  absl::Status Remove(const std::string& key);
  // Adds the figures of programs.
  absl::Status Count(store::Statistics& statistics);
  // By key, a few at a time; needs a transaction around it.
  absl::Status ForEach(const Visit& visit);

 private:
  explicit ProgramTable(std::vector<std::unique_ptr<Statement>> statements)
      : statements_(std::move(statements)) {}

  std::vector<std::unique_ptr<Statement>> statements_;
};

}  // namespace meshwright::tables

#endif  // MESHWRIGHT_PROFILEDB_TABLES_PROGRAM_TABLE_H_
