#include "profiledb/tables/program_table.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "profiledb/tables/compression.h"

namespace meshwright::tables {
namespace {

// A program may have megabytes.
constexpr int kProgramsPerPage = 16;

// In the order of kProgramSql.
enum ProgramStatement {
  kAddProgram,
  kFindBytes,
  kFindProgram,
  kRemoveProgram,
  kCountPrograms,
  kProgramPage,
  kTouchProgram,
  kFindUse,
  kRemoveUse,
  kListUnused
};

constexpr const char* kProgramSql[] = {
    "INSERT INTO programs (key, hlo_zstd, hlo_bytes) VALUES (?1, ?2, ?3) "
    "ON CONFLICT (key) DO NOTHING",

    "SELECT hlo_bytes FROM programs WHERE key = ?1",

    "SELECT hlo_zstd, hlo_bytes FROM programs WHERE key = ?1",

    "DELETE FROM programs WHERE key = ?1",

    "SELECT COUNT(*), CAST(SUM(hlo_bytes) AS BIGINT), "
    "CAST(SUM(LENGTH(hlo_zstd)) AS BIGINT) FROM programs",

    "SELECT hlo_zstd, hlo_bytes, key FROM programs WHERE key > ?1 "
    "ORDER BY key LIMIT ?2",

    "INSERT INTO program_uses (key, last_used_day) "
    "SELECT key, CAST(?2 AS BIGINT) FROM programs WHERE key = ?1 "
    "ON CONFLICT (key) DO UPDATE SET last_used_day = excluded.last_used_day "
    "WHERE program_uses.last_used_day < excluded.last_used_day",

    "SELECT last_used_day FROM program_uses WHERE key = ?1",

    "DELETE FROM program_uses WHERE key = ?1",

    "SELECT LENGTH(hlo_zstd), COALESCE(last_used_day, 0), programs.key "
    "FROM programs LEFT JOIN program_uses ON program_uses.key = programs.key "
    "WHERE COALESCE(last_used_day, 0) < ?1 ORDER BY programs.key",
};

}  // namespace

absl::StatusOr<std::unique_ptr<ProgramTable>> ProgramTable::Open(
    Database& database) {
  ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Statement>> statements,
                   database.PrepareAll(kProgramSql));
  return std::unique_ptr<ProgramTable>(new ProgramTable(std::move(statements)));
}

absl::Status ProgramTable::Add(const std::string& key,
                               std::string_view compressed, int64_t hlo_bytes) {
  Statement& add = *statements_[kAddProgram];
  const StatementUse use(add);
  add.BindText(1, key);
  add.BindBlob(2, compressed);
  add.BindInteger(3, hlo_bytes);
  return add.Run();
}

absl::StatusOr<std::optional<int64_t>> ProgramTable::FindBytes(
    const std::string& key) {
  Statement& find = *statements_[kFindBytes];
  const StatementUse use(find);
  find.BindText(1, key);
  ASSIGN_OR_RETURN(const bool has_row, find.Step());
  if (!has_row) return std::nullopt;
  return find.Integer(0);
}

absl::StatusOr<std::string> ProgramTable::Find(const std::string& key) {
  Statement& find = *statements_[kFindProgram];
  const StatementUse use(find);
  find.BindText(1, key);
  ASSIGN_OR_RETURN(const bool has_row, find.Step());
  if (!has_row) {
    return absl::NotFoundError(absl::StrCat("no program has the key ", key));
  }
  return Decompress(find.View(0), find.Integer(1));
}

absl::Status ProgramTable::Touch(const std::string& key, int64_t day) {
  Statement& touch = *statements_[kTouchProgram];
  const StatementUse use(touch);
  touch.BindText(1, key);
  touch.BindInteger(2, day);
  return touch.Run();
}

absl::StatusOr<int64_t> ProgramTable::FindLastUse(const std::string& key) {
  Statement& find = *statements_[kFindUse];
  const StatementUse use(find);
  find.BindText(1, key);
  ASSIGN_OR_RETURN(const bool has_row, find.Step());
  return has_row ? find.Integer(0) : 0;
}

absl::StatusOr<std::vector<store::ProgramUse>> ProgramTable::ListUnused(
    int64_t day) {
  Statement& list = *statements_[kListUnused];
  const StatementUse use(list);
  list.BindInteger(1, day);
  std::vector<store::ProgramUse> unused;
  RETURN_IF_ERROR(ForEachRow(list, [&] {
    unused.push_back({.key = list.Bytes(2),
                      .bytes = list.Integer(0),
                      .last_used_day = list.Integer(1)});
    return absl::OkStatus();
  }));
  return unused;
}

absl::Status ProgramTable::Remove(const std::string& key) {
  for (const ProgramStatement it : {kRemoveProgram, kRemoveUse}) {
    Statement& remove = *statements_[it];
    const StatementUse use(remove);
    remove.BindText(1, key);
    RETURN_IF_ERROR(remove.Run());
  }
  return {};
}

absl::Status ProgramTable::Count(store::Statistics& statistics) {
  Statement& count = *statements_[kCountPrograms];
  const StatementUse use(count);
  ASSIGN_OR_RETURN(const bool has_row, count.Step());
  if (!has_row) return {};
  statistics.programs = count.Integer(0);
  statistics.program_bytes = count.Integer(1);
  statistics.compressed_program_bytes = count.Integer(2);
  return {};
}

absl::Status ProgramTable::ForEach(const Visit& visit) {
  std::string key;
  while (true) {
    const std::string after = key;
    Statement& page = *statements_[kProgramPage];
    const StatementUse use(page);
    page.BindText(1, after);
    page.BindInteger(2, kProgramsPerPage);
    int programs = 0;
    RETURN_IF_ERROR(ForEachRow(page, [&] {
      ++programs;
      key = page.Bytes(2);
      return visit(key, Decompress(page.View(0), page.Integer(1)));
    }));
    if (programs < kProgramsPerPage) return {};
  }
}

}  // namespace meshwright::tables
