#include "profiledb/sqlite/sqlite_profile_store.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/log/log.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "profiledb/sqlite/compression.h"
#include "profiledb/sqlite/group_commit.h"
#include "profiledb/sqlite/profile_tables.h"
#include "profiledb/sqlite/quarantine_table.h"
#include "profiledb/sqlite/sqlite_database.h"
#include "profiledb/sqlite/sqlite_schema.h"
#include "profiledb/sqlite/stored_row.h"
#include "profiledb/store/check_row.h"
#include "profiledb/store/precedence.h"
#include "profiledb/store/summary.h"

namespace meshwright::sqlite {
namespace {

// Beside others of its key that are sound.
constexpr char kDamagedMeasurement[] = "one of several measurements of its key";

constexpr char kInsertProgram[] =
    "INSERT INTO programs (key, hlo_zstd, hlo_bytes) VALUES (?1, ?2, ?3) "
    "ON CONFLICT (key) DO NOTHING";
constexpr char kFindProgram[] =
    "SELECT hlo_zstd, hlo_bytes FROM programs WHERE key = ?1";

// Rows whose last use is not written yet; further ones wait for a next look-up.
constexpr size_t kMaximumUsed = 100'000;
// What a reader keeps of the file in memory at most, 256 MiB: with 32 MiB,
// look-ups among 100,000 rows are a third slower. A memory map is faster still,
// but a file that someone cuts short would kill the process.
constexpr char kReaderCache[] = "PRAGMA cache_size = -262144";

const base::Clock* SystemTime() {
  static const auto& kClock = *new base::SystemClock;
  return &kClock;
}

}  // namespace

struct SqliteProfileStore::Damaged {
  std::string team;
  std::string key;
  std::string damage;
};

struct SqliteProfileStore::Writer {
  Writer(std::unique_ptr<SqliteDatabase> opened,
         std::unique_ptr<ProfileTables> profiles,
         std::unique_ptr<QuarantineTable> quarantine,
         SqliteStatement insert_program, const base::Clock* clock)
      : database(std::move(opened)),
        profiles(std::move(profiles)),
        quarantine(std::move(quarantine)),
        insert_program(std::move(insert_program)),
        clock(clock != nullptr ? clock : SystemTime()),
        commits([this](const GroupCommit::Work& work) {
          return database->Transact([&]() -> absl::Status {
            RETURN_IF_ERROR(work());
            return WriteUsed();
          });
        }) {}

  store::Nanoseconds Now() const {
    return FromUnixNs(absl::ToUnixNanos(clock->Now()));
  }

  absl::Status WriteUsed() {
    absl::flat_hash_set<int64_t> ids;
    {
      const base::MutexLock lock(&used_mutex);
      ids.swap(used);
    }
    return profiles->Touch(ids, ToUnixDay(Now()));
  }

  std::unique_ptr<SqliteDatabase> database;
  // Used within a commit, which is one thread at a time.
  std::unique_ptr<ProfileTables> profiles;
  std::unique_ptr<QuarantineTable> quarantine;
  SqliteStatement insert_program;
  const base::Clock* const clock;
  base::Mutex used_mutex;
  absl::flat_hash_set<int64_t> used ABSL_GUARDED_BY(used_mutex);
  GroupCommit commits;
};

struct SqliteProfileStore::Reader {
  Reader(std::unique_ptr<SqliteDatabase> opened,
         std::unique_ptr<ProfileTables> profiles,
         std::unique_ptr<QuarantineTable> quarantine,
         SqliteStatement find_program)
      : database(std::move(opened)),
        profiles(std::move(profiles)),
        quarantine(std::move(quarantine)),
        find_program(std::move(find_program)) {}

  base::Mutex mutex;
  std::unique_ptr<SqliteDatabase> database;
  std::unique_ptr<ProfileTables> profiles;
  std::unique_ptr<QuarantineTable> quarantine;
  SqliteStatement find_program;
};

namespace {

// The rows of a set of keys, read in one go.
class LookupPass {
 public:
  LookupPass(const store::LookupOptions& options, int64_t today)
      : options_(options), today_(today) {
    spaces_.push_back(options.team);
    if (options.team != store::kSharedPool) {
      spaces_.emplace_back(store::kSharedPool);
    }
  }

  absl::Status Find(ProfileTables& profiles, const std::string& key) {
    if (!store::IsKey(key)) return {};
    for (const std::string& space : spaces_) {
      ASSIGN_OR_RETURN(std::optional<StoredProfile> row,
                       profiles.Find(space, key));
      if (row.has_value()) Take(*std::move(row));
    }
    return {};
  }

  store::Results results;
  std::vector<StoredProfile> damaged;
  std::vector<int64_t> used;  // for the first time today

 private:
  void Take(StoredProfile row) {
    if (!row.damage.empty()) {
      damaged.push_back(std::move(row));
      return;
    }
    const v1::Outcome outcome = row.result.outcome();
    if (options_.retry_failures && store::IsFailure(outcome)) return;
    if (row.last_used_day < today_) used.push_back(row.id);
    const auto [known, is_new] = results.try_emplace(row.key);
    // The shared pool's row counts only if it ranks above the team's.
    if (is_new || store::Rank(outcome) > store::Rank(known->second.outcome())) {
      known->second = std::move(row.result);
    }
  }

  const store::LookupOptions& options_;
  const int64_t today_;
  std::vector<std::string> spaces_;
};

}  // namespace

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
  ASSIGN_OR_RETURN(auto profiles, ProfileTables::Open(*writing));
  ASSIGN_OR_RETURN(auto quarantine, QuarantineTable::Open(*writing));
  ASSIGN_OR_RETURN(SqliteStatement insert, writing->Prepare(kInsertProgram));
  ASSIGN_OR_RETURN(auto reading, SqliteDatabase::Open(path));
  RETURN_IF_ERROR(reading->Execute(kReaderCache));
  ASSIGN_OR_RETURN(auto read_profiles, ProfileTables::Open(*reading));
  ASSIGN_OR_RETURN(auto read_quarantine, QuarantineTable::Open(*reading));
  ASSIGN_OR_RETURN(SqliteStatement program, reading->Prepare(kFindProgram));
  return std::unique_ptr<SqliteProfileStore>(new SqliteProfileStore(
      std::make_unique<Writer>(std::move(writing), std::move(profiles),
                               std::move(quarantine), std::move(insert),
                               options.clock),
      std::make_unique<Reader>(std::move(reading), std::move(read_profiles),
                               std::move(read_quarantine),
                               std::move(program))));
}

absl::StatusOr<store::Results> SqliteProfileStore::Lookup(
    absl::Span<const std::string> keys, const store::LookupOptions& options) {
  LookupPass pass(options, ToUnixDay(writer_->Now()));
  pass.results.reserve(keys.size());
  absl::Status status;
  {
    const base::MutexLock lock(&reader_->mutex);
    // One read transaction: all rows are of one moment.
    RETURN_IF_ERROR(reader_->database->Execute("BEGIN"));
    for (const std::string& key : keys) {
      status = pass.Find(*reader_->profiles, key);
      if (!status.ok()) break;
    }
    status.Update(reader_->database->Execute("COMMIT"));
  }
  if (!status.ok()) return status;
  if (!pass.used.empty()) {
    const base::MutexLock lock(&writer_->used_mutex);
    if (writer_->used.size() < kMaximumUsed) {
      writer_->used.insert(pass.used.begin(), pass.used.end());
    }
  }
  std::vector<Damaged> damaged;
  for (StoredProfile& row : pass.damaged) {
    damaged.push_back({row.team, row.key, row.damage});
  }
  SetAside(damaged);
  return std::move(pass.results);
}

absl::StatusOr<std::vector<store::KeptRow>> SqliteProfileStore::LookupKept(
    const std::string& key, const std::string& team) {
  ProfileTables::Kept kept;
  if (!store::IsKey(key)) return kept.rows;
  std::optional<StoredProfile> profile;
  {
    const base::MutexLock lock(&reader_->mutex);
    RETURN_IF_ERROR(reader_->database->Execute("BEGIN"));
    const absl::Status status = [&]() -> absl::Status {
      ASSIGN_OR_RETURN(profile, reader_->profiles->Find(team, key));
      if (!profile.has_value() || !profile->damage.empty()) return {};
      ASSIGN_OR_RETURN(kept, reader_->profiles->ReadKept(*profile));
      return {};
    }();
    RETURN_IF_ERROR(reader_->database->Execute("COMMIT"));
    RETURN_IF_ERROR(status);
  }
  if (profile.has_value() && !profile->damage.empty()) {
    SetAside({{team, key, profile->damage}});
  } else if (kept.damaged > 0) {
    SetAside({{team, key, kDamagedMeasurement}});
  }
  store::MarkSuspects(kept.rows);
  return std::move(kept.rows);
}

absl::Status SqliteProfileStore::Record(const v1::ProfileResult& result,
                                        const store::Origin& origin) {
  RETURN_IF_ERROR(store::CheckRow(result));
  const store::KeptRow row = store::MakeKept(result, origin);
  const std::string& key = result.key();
  return writer_->commits.Write([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::optional<StoredProfile> there,
                     writer_->profiles->Find(origin.team, key));
    ProfileTables::Kept kept;
    if (there.has_value()) {
      ASSIGN_OR_RETURN(kept, writer_->profiles->ReadKept(*there));
      if (kept.damaged > 0) WarnOfDamage(key, kDamagedMeasurement, {});
    }
    if (store::Admit(row, kept.rows)) {
      RETURN_IF_ERROR(writer_->profiles->Write(origin.team, key, kept.rows,
                                               ToUnixDay(writer_->Now())));
    }
    if (result.outcome() != v1::MEASURED) return {};
    return writer_->quarantine->Forget(key).status();
  });
}

void SqliteProfileStore::SetAside(const std::vector<Damaged>& rows) {
  for (const Damaged& row : rows) {
    const absl::Status status = writer_->commits.Write([&]() -> absl::Status {
      // Another process may have mended it meanwhile.
      ASSIGN_OR_RETURN(const std::optional<StoredProfile> there,
                       writer_->profiles->Find(row.team, row.key));
      if (!there.has_value()) return {};
      ASSIGN_OR_RETURN(const ProfileTables::Kept kept,
                       writer_->profiles->ReadKept(*there));
      if (there->damage.empty() && kept.damaged == 0) return {};
      if (kept.rows.empty()) {
        RETURN_IF_ERROR(writer_->profiles->Remove(there->id));
      } else {
        RETURN_IF_ERROR(writer_->profiles->Write(row.team, row.key, kept.rows,
                                                 ToUnixDay(writer_->Now())));
      }
      return writer_->quarantine->AddDamaged(row.key, row.damage,
                                             writer_->Now());
    });
    WarnOfDamage(row.key, row.damage, status);
  }
}

void SqliteProfileStore::WarnOfDamage(const std::string& key,
                                      absl::string_view damage,
                                      const absl::Status& set_aside) const {
  base::LogWarning(
      "the store ", writer_->database->path(), " has a damaged row, ", damage,
      ": ", set_aside.ok() ? "set aside" : std::string(set_aside.message()),
      "; `meshwright plan` and `meshwright profiles remeasure PLAN` measure it "
      "again where a plan needs it: ",
      key);
}

absl::Status SqliteProfileStore::RecordProgram(const std::string& key,
                                               std::string_view hlo) {
  RETURN_IF_ERROR(store::CheckKey(key));
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
  return Decompress(find.View(0), find.Integer(1));
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
  std::vector<Damaged> damaged;
  {
    const base::MutexLock lock(&reader_->mutex);
    RETURN_IF_ERROR(reader_->profiles->ForEach(
        [&](StoredProfile& row, const store::Origin& origin) {
          if (row.damage.empty()) return visit(row.result, origin);
          damaged.push_back({row.team, row.key, row.damage});
          return true;
        }));
  }
  SetAside(damaged);
  return {};
}

absl::StatusOr<int> SqliteProfileStore::Quarantine(const std::string& key,
                                                   int crashes,
                                                   std::string_view reason,
                                                   std::string_view log) {
  RETURN_IF_ERROR(store::CheckKey(key));
  int total = 0;
  RETURN_IF_ERROR(writer_->commits.Write([&]() -> absl::Status {
    ASSIGN_OR_RETURN(total, writer_->quarantine->AddCrashes(
                                key, crashes, reason, log, writer_->Now()));
    return {};
  }));
  return total;
}

absl::StatusOr<std::vector<store::QuarantineEntry>>
SqliteProfileStore::ListQuarantine() {
  const base::MutexLock lock(&reader_->mutex);
  return reader_->quarantine->List();
}

absl::Status SqliteProfileStore::RetryQuarantined(const std::string& key) {
  bool was_there = false;
  // An unknown key is no failure of the commit, which others share.
  RETURN_IF_ERROR(writer_->commits.Write([&]() -> absl::Status {
    ASSIGN_OR_RETURN(was_there, writer_->quarantine->Forget(key));
    if (!was_there) return {};
    return writer_->profiles->RemoveCrashed(key);
  }));
  if (!was_there) return store::NotQuarantined(key);
  return {};
}

}  // namespace meshwright::sqlite
