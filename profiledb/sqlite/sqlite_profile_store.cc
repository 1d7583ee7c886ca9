#include "profiledb/sqlite/sqlite_profile_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "profiledb/sqlite/compression.h"
#include "profiledb/sqlite/group_commit.h"
#include "profiledb/sqlite/sqlite_database.h"
#include "profiledb/sqlite/sqlite_schema.h"
#include "profiledb/store/precedence.h"

namespace meshwright::sqlite {
namespace {

// The WHERE repeats Replaces of precedence.h: 1 is measured, 6 is pruned.
constexpr char kUpsert[] = R"sql(
  INSERT INTO profiles (namespace, key, outcome, result, host, worker,
                        recorded_unix_ns)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
  ON CONFLICT (namespace, key) DO UPDATE SET
    outcome = excluded.outcome, result = excluded.result,
    host = excluded.host, worker = excluded.worker,
    recorded_unix_ns = excluded.recorded_unix_ns
  WHERE profiles.outcome <> 1
    AND (profiles.outcome <> 6 OR excluded.outcome IN (1, 6)))sql";

constexpr char kInsertProgram[] =
    "INSERT INTO programs (key, hlo_zstd, hlo_bytes) VALUES (?1, ?2, ?3) "
    "ON CONFLICT (key) DO NOTHING";
constexpr char kFind[] =
    "SELECT result FROM profiles WHERE namespace = ?1 AND key = ?2";
constexpr char kFindProgram[] =
    "SELECT hlo_zstd, hlo_bytes FROM programs WHERE key = ?1";
constexpr char kAll[] =
    "SELECT result, namespace, host, worker, recorded_unix_ns FROM profiles "
    "ORDER BY namespace, key";

absl::StatusOr<v1::ProfileResult> Parse(const SqliteStatement& row,
                                        const std::string& path) {
  v1::ProfileResult result;
  if (!result.ParseFromString(row.Bytes(0))) {
    return absl::DataLossError(
        absl::StrCat("the store ", path, " has a damaged row"));
  }
  return result;
}

}  // namespace

struct SqliteProfileStore::Writer {
  Writer(std::unique_ptr<SqliteDatabase> opened, SqliteStatement upsert,
         SqliteStatement insert_program)
      : database(std::move(opened)),
        upsert(std::move(upsert)),
        insert_program(std::move(insert_program)),
        commits([this](const GroupCommit::Work& work) {
          return database->Transact(work);
        }) {}

  std::unique_ptr<SqliteDatabase> database;
  // Used within a commit, which is one thread at a time.
  SqliteStatement upsert;
  SqliteStatement insert_program;
  GroupCommit commits;
};

struct SqliteProfileStore::Reader {
  Reader(std::unique_ptr<SqliteDatabase> opened, SqliteStatement find,
         SqliteStatement find_program, SqliteStatement all)
      : database(std::move(opened)),
        find(std::move(find)),
        find_program(std::move(find_program)),
        all(std::move(all)) {}

  absl::Status FindInto(const std::string& key,
                        const store::LookupOptions& options,
                        store::Results& results) {
    for (const std::string& space :
         {options.team, std::string(store::kSharedPool)}) {
      const StatementUse use(find);
      find.BindText(1, space);
      find.BindText(2, key);
      ASSIGN_OR_RETURN(const bool has_row, find.Step());
      if (!has_row) continue;
      ASSIGN_OR_RETURN(v1::ProfileResult result, Parse(find, database->path()));
      if (options.retry_failures && store::IsFailure(result.outcome()))
        continue;
      // The shared pool's row counts only if it ranks above the team's.
      const auto known = results.find(key);
      if (known == results.end() || store::Rank(result.outcome()) >
                                        store::Rank(known->second.outcome())) {
        results[key] = std::move(result);
      }
    }
    return {};
  }

  base::Mutex mutex;
  std::unique_ptr<SqliteDatabase> database;
  SqliteStatement find;
  SqliteStatement find_program;
  SqliteStatement all;
};

SqliteProfileStore::SqliteProfileStore(std::unique_ptr<Writer> writer,
                                       std::unique_ptr<Reader> reader)
    : writer_(std::move(writer)), reader_(std::move(reader)) {}

SqliteProfileStore::~SqliteProfileStore() = default;

absl::StatusOr<std::unique_ptr<SqliteProfileStore>> SqliteProfileStore::Open(
    const std::string& path, const SqliteOptions& options) {
  ASSIGN_OR_RETURN(auto writing, SqliteDatabase::Open(path));
  RETURN_IF_ERROR(PrepareSchema(*writing));
  if (options.max_bytes.has_value()) {
    ASSIGN_OR_RETURN(const int64_t page,
                     writing->QueryInteger("PRAGMA page_size"));
    const int64_t pages = std::max<int64_t>(1, *options.max_bytes / page);
    RETURN_IF_ERROR(
        writing->QueryInteger(absl::StrCat("PRAGMA max_page_count = ", pages))
            .status());
  }
  ASSIGN_OR_RETURN(SqliteStatement upsert, writing->Prepare(kUpsert));
  ASSIGN_OR_RETURN(SqliteStatement insert, writing->Prepare(kInsertProgram));
  ASSIGN_OR_RETURN(auto reading, SqliteDatabase::Open(path));
  ASSIGN_OR_RETURN(SqliteStatement find, reading->Prepare(kFind));
  ASSIGN_OR_RETURN(SqliteStatement program, reading->Prepare(kFindProgram));
  ASSIGN_OR_RETURN(SqliteStatement all, reading->Prepare(kAll));
  return std::unique_ptr<SqliteProfileStore>(new SqliteProfileStore(
      std::make_unique<Writer>(std::move(writing), std::move(upsert),
                               std::move(insert)),
      std::make_unique<Reader>(std::move(reading), std::move(find),
                               std::move(program), std::move(all))));
}

absl::StatusOr<store::Results> SqliteProfileStore::Lookup(
    absl::Span<const std::string> keys, const store::LookupOptions& options) {
  const base::MutexLock lock(&reader_->mutex);
  // One read transaction: all rows are of one moment.
  RETURN_IF_ERROR(reader_->database->Execute("BEGIN"));
  store::Results results;
  absl::Status status;
  for (const std::string& key : keys) {
    status = reader_->FindInto(key, options, results);
    if (!status.ok()) break;
  }
  status.Update(reader_->database->Execute("COMMIT"));
  if (!status.ok()) return status;
  return results;
}

absl::Status SqliteProfileStore::Record(const v1::ProfileResult& result,
                                        const store::Origin& origin) {
  RETURN_IF_ERROR(store::CheckRow(result));
  const std::string bytes = result.SerializeAsString();
  return writer_->commits.Write([&]() -> absl::Status {
    SqliteStatement& upsert = writer_->upsert;
    const StatementUse use(upsert);
    upsert.BindText(1, origin.team);
    upsert.BindText(2, result.key());
    upsert.BindInteger(3, result.outcome());
    upsert.BindBlob(4, bytes);
    upsert.BindText(5, origin.host);
    upsert.BindText(6, origin.worker);
    upsert.BindInteger(7, origin.recorded.time_since_epoch().count());
    return upsert.Run();
  });
}

absl::Status SqliteProfileStore::RecordProgram(const std::string& key,
                                               std::string_view hlo) {
  if (key.empty()) return absl::InvalidArgumentError("a program has no key");
  ASSIGN_OR_RETURN(const std::string compressed, Compress(hlo));
  return writer_->commits.Write([&]() -> absl::Status {
    SqliteStatement& insert = writer_->insert_program;
    const StatementUse use(insert);
    insert.BindText(1, key);
    insert.BindBlob(2, compressed);
    insert.BindInteger(3, static_cast<int64_t>(hlo.size()));
    return insert.Run();
  });
}

absl::StatusOr<std::string> SqliteProfileStore::LookupProgram(
    const std::string& key) {
  const base::MutexLock lock(&reader_->mutex);
  SqliteStatement& find = reader_->find_program;
  const StatementUse use(find);
  find.BindText(1, key);
  ASSIGN_OR_RETURN(const bool has_row, find.Step());
  if (!has_row) {
    return absl::NotFoundError(absl::StrCat("no program has the key ", key));
  }
  return Decompress(find.Bytes(0), find.Integer(1));
}

absl::StatusOr<store::Statistics> SqliteProfileStore::Count() {
  const base::MutexLock lock(&reader_->mutex);
  store::Statistics statistics;
  ASSIGN_OR_RETURN(
      SqliteStatement outcomes,
      reader_->database->Prepare(
          "SELECT outcome, COUNT(*) FROM profiles GROUP BY outcome"));
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, outcomes.Step());
    if (!has_row) break;
    statistics.profiles[static_cast<v1::Outcome>(outcomes.Integer(0))] =
        outcomes.Integer(1);
  }
  ASSIGN_OR_RETURN(
      SqliteStatement programs,
      reader_->database->Prepare("SELECT COUNT(*), SUM(hlo_bytes), "
                                 "SUM(LENGTH(hlo_zstd)) FROM programs"));
  ASSIGN_OR_RETURN(const bool has_row, programs.Step());
  if (!has_row) return statistics;
  statistics.programs = programs.Integer(0);
  statistics.program_bytes = programs.Integer(1);
  statistics.compressed_program_bytes = programs.Integer(2);
  return statistics;
}

absl::Status SqliteProfileStore::ForEach(const Visit& visit) {
  const base::MutexLock lock(&reader_->mutex);
  SqliteStatement& all = reader_->all;
  const StatementUse use(all);
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, all.Step());
    if (!has_row) return {};
    ASSIGN_OR_RETURN(const v1::ProfileResult result,
                     Parse(all, reader_->database->path()));
    const store::Origin origin{
        .team = all.Bytes(1),
        .host = all.Bytes(2),
        .worker = all.Bytes(3),
        .recorded = std::chrono::sys_time<std::chrono::nanoseconds>(
            std::chrono::nanoseconds(all.Integer(4)))};
    if (!visit(result, origin)) return {};
  }
}

}  // namespace meshwright::sqlite
