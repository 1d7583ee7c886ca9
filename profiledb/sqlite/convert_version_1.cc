#include "profiledb/sqlite/convert_version_1.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "profiledb/store/check_row.h"
#include "profiledb/store/precedence.h"
#include "profiledb/tables/profile_tables.h"
#include "profiledb/tables/quarantine_table.h"
#include "profiledb/tables/stored_row.h"

namespace meshwright::sqlite {
namespace {

using tables::ProfileTables;
using tables::QuarantineTable;
using tables::Statement;
using tables::StatementUse;

constexpr int kBatchRows = 10'000;

constexpr char kNext[] =
    "SELECT namespace, key, outcome, result, host, worker, recorded_unix_ns "
    "FROM profiles_version_1 WHERE (namespace, key) > (?1, ?2) "
    "ORDER BY namespace, key LIMIT ?3";
constexpr char kDelete[] =
    "DELETE FROM profiles_version_1 WHERE (namespace, key) <= (?1, ?2)";

class Converter {
 public:
  Converter(std::unique_ptr<ProfileTables> profiles,
            std::unique_ptr<QuarantineTable> quarantine)
      : profiles_(std::move(profiles)), quarantine_(std::move(quarantine)) {}

  // A row of kNext.
  absl::Status Convert(const Statement& row) {
    const store::Origin origin{.team = row.Bytes(0),
                               .host = row.Bytes(4),
                               .worker = row.Bytes(5),
                               .recorded = tables::FromUnixNs(row.Integer(6))};
    const std::string key = row.Bytes(1);
    v1::ProfileResult result;
    const std::string fault =
        store::IsKey(key)
            ? tables::ParseResult(row.View(3), key, row.Integer(2), result)
            : "its key is not 64 hex digits";
    if (!fault.empty()) {
      return quarantine_->AddDamaged(key, fault,
                                     std::chrono::system_clock::now());
    }
    const store::KeptRow kept[] = {store::MakeKept(result, origin)};
    return profiles_->Write(origin.team, key, kept,
                            tables::ToUnixDay(origin.recorded));
  }

 private:
  std::unique_ptr<ProfileTables> profiles_;
  std::unique_ptr<QuarantineTable> quarantine_;
};

}  // namespace

absl::Status ConvertVersion1(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(auto profiles, ProfileTables::Open(database));
  ASSIGN_OR_RETURN(auto quarantine, QuarantineTable::Open(database));
  Converter converter(std::move(profiles), std::move(quarantine));
  ASSIGN_OR_RETURN(const auto next, database.Prepare(kNext));
  ASSIGN_OR_RETURN(const auto remove, database.Prepare(kDelete));
  std::string last_namespace;
  std::string last_key;
  while (true) {
    int rows = 0;
    {
      const std::string after_namespace = last_namespace;
      const std::string after_key = last_key;
      const StatementUse use(*next);
      next->BindText(1, after_namespace);
      next->BindText(2, after_key);
      next->BindInteger(3, kBatchRows);
      while (true) {
        ASSIGN_OR_RETURN(const bool has_row, next->Step());
        if (!has_row) break;
        ++rows;
        last_namespace = next->Bytes(0);
        last_key = next->Bytes(1);
        RETURN_IF_ERROR(converter.Convert(*next));
      }
    }
    if (rows == 0) return {};
    const StatementUse use(*remove);
    remove->BindText(1, last_namespace);
    remove->BindText(2, last_key);
    RETURN_IF_ERROR(remove->Run());
  }
}

}  // namespace meshwright::sqlite
