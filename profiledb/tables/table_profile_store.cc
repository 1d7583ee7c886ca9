#include "profiledb/tables/table_profile_store.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/log/log.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "profiledb/store/check_row.h"
#include "profiledb/store/precedence.h"
#include "profiledb/store/summary.h"
#include "profiledb/tables/compression.h"
#include "profiledb/tables/group_commit.h"
#include "profiledb/tables/profile_tables.h"
#include "profiledb/tables/program_table.h"
#include "profiledb/tables/quarantine_table.h"
#include "profiledb/tables/stored_row.h"

namespace meshwright::tables {
namespace {

using store::DamagedRow;

// Beside others of its key that are sound.
constexpr char kDamagedMeasurement[] = "one of several measurements of its key";

// Rows whose last use is not written yet; further ones wait for a next look-up.
constexpr size_t kMaximumUsed = 100'000;
// Of programs that are used while others are removed; beyond, days count.
constexpr size_t kMaximumSinceList = 10'000;
// Of these, with one commit: it keeps all others who write from the store. A
// program has a statement of its own.
constexpr size_t kUsedPerCommit = 1'000;
constexpr size_t kUsedProgramsPerCommit = 100;
// Look-ups have uses written where nothing else was written for as long.
constexpr absl::Duration kUsedPause = absl::Minutes(1);

const base::Clock* SystemTime() {
  static const auto& kClock = *new base::SystemClock;
  return &kClock;
}

// Moves some of them, until `to` has `maximum`.
template <typename Set>
void MoveSome(size_t maximum, Set& from, Set& to) {
  for (auto it = from.begin(); it != from.end() && to.size() < maximum;) {
    to.insert(*it);
    from.erase(it++);
  }
}

// The rows of a set of keys, read in one go.
class LookupPass {
 public:
  LookupPass(const store::LookupOptions& options, int64_t today)
      : options_(options), today_(today) {}

  absl::Status Find(ProfileTables& profiles, QuarantineTable& quarantine,
                    absl::Span<const std::string> keys) {
    std::vector<StoredProfile> failed;
    const auto take = [&](StoredProfile row) {
      const bool is_held_back =
          row.damage.empty() && IsRetried(row.result.outcome(), options_);
      if (is_held_back) {
        failed.push_back(std::move(row));
      } else {
        Take(std::move(row));
      }
    };
    RETURN_IF_ERROR(profiles.FindMany(options_.team, keys, take));
    if (options_.team != store::kSharedPool) {
      RETURN_IF_ERROR(profiles.FindMany(store::kSharedPool, keys, take));
    }
    for (StoredProfile& row : failed) {
      ASSIGN_OR_RETURN(const bool is_held, quarantine.Holds(row.key));
      if (is_held) Take(std::move(row));
    }
    return {};
  }

  store::Results results;
  std::vector<DamagedRow> damaged;
  std::vector<int64_t> used;  // for the first time today

 private:
  void Take(StoredProfile row) {
    if (!row.damage.empty()) {
      damaged.push_back({row.team, row.key, row.damage});
      return;
    }
    const v1::Outcome outcome = row.result.outcome();
    if (row.last_used_day < today_) used.push_back(row.id);
    const auto [known, is_new] = results.try_emplace(row.key);
    // The shared pool's row counts only if it ranks above the team's.
    if (is_new || store::Rank(outcome) > store::Rank(known->second.outcome())) {
      known->second = std::move(row.result);
    }
  }

  const store::LookupOptions& options_;
  const int64_t today_;
};

}  // namespace

// A connection and its tables.
struct TableProfileStore::Side {
  static absl::StatusOr<Side> Open(std::unique_ptr<Database> database) {
    ASSIGN_OR_RETURN(auto profiles, ProfileTables::Open(*database));
    ASSIGN_OR_RETURN(auto programs, ProgramTable::Open(*database));
    ASSIGN_OR_RETURN(auto quarantine, QuarantineTable::Open(*database));
    return Side{std::move(database), std::move(profiles), std::move(programs),
                std::move(quarantine)};
  }

  // Whether a row or the quarantine has the key.
  absl::StatusOr<bool> IsNamed(const std::vector<std::string>& teams,
                               const std::string& key) const {
    ASSIGN_OR_RETURN(const bool is_quarantined, quarantine->Has(key));
    if (is_quarantined) return true;
    for (const std::string& team : teams) {
      ASSIGN_OR_RETURN(const auto row, profiles->Find(team, key));
      if (row.has_value()) return true;
    }
    return false;
  }

  std::unique_ptr<Database> database;
  std::unique_ptr<ProfileTables> profiles;
  std::unique_ptr<ProgramTable> programs;
  std::unique_ptr<QuarantineTable> quarantine;
};

// Used within a commit, which is one thread at a time.
struct TableProfileStore::Writer : Side {
  Writer(Side side, const base::Clock* clock)
      : Side(std::move(side)),
        clock(clock != nullptr ? clock : SystemTime()),
        committed(this->clock->Now()),
        commits([this](const GroupCommit::Work& work) {
          absl::Status status =
              database->Transact(Access::kWrite, [&]() -> absl::Status {
                RETURN_IF_ERROR(work());
                return WriteUsed();
              });
          EndUsed(status.ok());
          return status;
        }) {}

  store::Nanoseconds Now() const {
    return FromUnixNs(absl::ToUnixNanos(clock->Now()));
  }
  int64_t Today() const { return ToUnixDay(Now()); }

  // Some of them; the rest waits for further commits.
  absl::Status WriteUsed() {
    {
      const base::MutexLock lock(&used_mutex);
      MoveSome(kUsedPerCommit, used, written);
      MoveSome(kUsedProgramsPerCommit, used_programs, written_programs);
    }
    for (const std::string& key : written_programs) {
      RETURN_IF_ERROR(programs->Touch(key, Today()));
    }
    return profiles->Touch(written, Today());
  }

  void EndUsed(bool is_durable) {
    const base::MutexLock lock(&used_mutex);
    if (is_durable) {
      committed = clock->Now();
    } else {
      used.merge(written);
      used_programs.merge(written_programs);
    }
    written.clear();
    written_programs.clear();
  }

  // How many commits take those noted so far.
  size_t CountCommits() {
    const base::MutexLock lock(&used_mutex);
    const auto count = [](size_t uses, size_t maximum) {
      return (uses + maximum - 1) / maximum;
    };
    return std::max(count(used.size(), kUsedPerCommit),
                    count(used_programs.size(), kUsedProgramsPerCommit));
  }

  // One commit at least.
  absl::Status FlushUsed() {
    for (size_t i = 0, all = std::max<size_t>(CountCommits(), 1); i < all;
         ++i) {
      RETURN_IF_ERROR(commits.Write([] { return absl::Status(); }));
    }
    return {};
  }

  bool IsUseNoted(const std::string& program) {
    const base::MutexLock lock(&used_mutex);
    return used_programs.contains(program);
  }

  // Programs that are used from here on, until some are removed: their day may
  // be that of the list. A quota lists them while a collection goes on, which
  // may have begun the day before; older notes tell nothing.
  void BeginList() {
    const int64_t oldest = Today() - 1;
    const base::MutexLock lock(&used_mutex);
    if (!used_since_list.has_value()) used_since_list.emplace();
    absl::erase_if(*used_since_list,
                   [&](const auto& it) { return it.second < oldest; });
  }
  void NoteSinceList(const std::string& program) {
    const int64_t today = Today();
    const base::MutexLock lock(&used_mutex);
    if (used_since_list.has_value() &&
        used_since_list->size() < kMaximumSinceList) {
      used_since_list->insert_or_assign(program, today);
    }
  }
  bool IsUsedSinceList(const std::string& program) {
    const base::MutexLock lock(&used_mutex);
    return used_since_list.has_value() && used_since_list->contains(program);
  }
  void EndList() {
    const base::MutexLock lock(&used_mutex);
    used_since_list.reset();
  }

  // After a use was noted. One commit, which the look-up does not wait for:
  // another process may hold the store for seconds. One that fails is made
  // again later.
  void FlushIfDue() {
    const base::MutexLock lock(&used_mutex);
    const absl::Duration since = clock->Now() - committed;
    // Before zero the clock was set back.
    if (since >= absl::ZeroDuration() && since < kUsedPause) return;
    committed = clock->Now();
    if (flusher == nullptr) flusher = std::make_unique<base::ThreadPool>(1);
    flusher->Post(
        [this] { commits.Write([] { return absl::Status(); }).IgnoreError(); });
  }

  // Returns when no such commit is at hand.
  void EndFlushing() {
    std::unique_ptr<base::ThreadPool> last;
    {
      const base::MutexLock lock(&used_mutex);
      last = std::move(flusher);
    }
    last.reset();
  }

  const base::Clock* const clock;
  base::Mutex used_mutex;
  absl::flat_hash_set<int64_t> used ABSL_GUARDED_BY(used_mutex);
  absl::flat_hash_set<std::string> used_programs ABSL_GUARDED_BY(used_mutex);
  // Days of uses, by program.
  std::optional<absl::flat_hash_map<std::string, int64_t>> used_since_list
      ABSL_GUARDED_BY(used_mutex);
  // Taken of these by the commit at hand, until it is over.
  absl::flat_hash_set<int64_t> written;
  absl::flat_hash_set<std::string> written_programs;
  absl::Time committed ABSL_GUARDED_BY(used_mutex);  // or tried in vain
  GroupCommit commits;
  // Made for the first commit that a look-up asks for. It ends before
  // `commits`.
  std::unique_ptr<base::ThreadPool> flusher ABSL_GUARDED_BY(used_mutex);
};

struct TableProfileStore::Reader : Side {
  explicit Reader(Side side) : Side(std::move(side)) {}

  // All that `work` reads is of one moment.
  template <typename Work>
  absl::Status Read(const Work& work) {
    const base::MutexLock lock(&mutex);
    return database->Transact(Access::kRead, work);
  }

  base::Mutex mutex;
};

struct TableProfileStore::Sides {
  Sides(Side writing, Side reading, Side scanning, const base::Clock* clock)
      : writer(std::move(writing), clock),
        reader(std::move(reading)),
        scanner(std::move(scanning)) {}

  Writer writer;
  Reader reader;
  Reader scanner;
};

// An entry as it is written.
struct TableProfileStore::NewRow {
  const store::Entry* entry;
  store::KeptRow row;
  std::string compressed_program;
};

void TableProfileStore::CloseSides::operator()(Sides* sides) const {
  delete sides;
}

TableProfileStore::TableProfileStore(OwnedSides sides)
    : sides_(std::move(sides)) {}

TableProfileStore::~TableProfileStore() {
  Writer& writer = sides_->writer;
  writer.EndFlushing();
  if (writer.CountCommits() == 0) return;
  const absl::Status status = writer.FlushUsed();
  // From a store that reads only nobody removes rows.
  if (status.ok() || absl::IsPermissionDenied(status)) return;
  base::LogWarning("the store ", writer.database->name(),
                   " misses the last uses of some rows: ", status.message());
}

absl::StatusOr<TableProfileStore::OwnedSides> TableProfileStore::OpenSides(
    std::unique_ptr<Database> writing, std::unique_ptr<Database> reading,
    std::unique_ptr<Database> scanning, const base::Clock* clock) {
  ASSIGN_OR_RETURN(Side writer, Side::Open(std::move(writing)));
  ASSIGN_OR_RETURN(Side reader, Side::Open(std::move(reading)));
  ASSIGN_OR_RETURN(Side scanner, Side::Open(std::move(scanning)));
  return OwnedSides(new Sides(std::move(writer), std::move(reader),
                              std::move(scanner), clock));
}

absl::StatusOr<store::Results> TableProfileStore::Lookup(
    absl::Span<const std::string> keys, const store::LookupOptions& options) {
  Writer& writer = sides_->writer;
  const size_t asked = keys.size();
  std::vector<std::string> sound;
  if (!std::all_of(keys.begin(), keys.end(), store::IsKey)) {
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(sound),
                 store::IsKey);
    keys = sound;
  }
  LookupPass pass(options, writer.Today());
  pass.results.reserve(keys.size());
  RETURN_IF_ERROR(sides_->reader.Read([&] {
    return pass.Find(*sides_->reader.profiles, *sides_->reader.quarantine,
                     keys);
  }));
  if (!pass.used.empty()) {
    {
      const base::MutexLock lock(&writer.used_mutex);
      if (writer.used.size() < kMaximumUsed) {
        writer.used.insert(pass.used.begin(), pass.used.end());
      }
    }
    writer.FlushIfDue();
  }
  SetAside(pass.damaged);
  NoteLookup(asked, pass.results.size());
  return std::move(pass.results);
}

absl::StatusOr<std::vector<store::KeptRow>> TableProfileStore::LookupKept(
    const std::string& key, const std::string& team) {
  ProfileTables::Kept kept;
  if (!store::IsKey(key)) return kept.rows;
  std::optional<StoredProfile> profile;
  RETURN_IF_ERROR(sides_->reader.Read([&]() -> absl::Status {
    ASSIGN_OR_RETURN(profile, sides_->reader.profiles->Find(team, key));
    if (!profile.has_value() || !profile->damage.empty()) return {};
    ASSIGN_OR_RETURN(kept, sides_->reader.profiles->ReadKept(*profile));
    return {};
  }));
  if (profile.has_value() && !profile->damage.empty()) {
    SetAside({{team, key, profile->damage}});
  } else if (kept.damaged > 0) {
    SetAside({{team, key, kDamagedMeasurement}});
  }
  store::MarkSuspects(kept.rows);
  return std::move(kept.rows);
}

absl::Status TableProfileStore::Record(absl::Span<const store::Entry> entries) {
  std::vector<NewRow> rows;
  for (const store::Entry& entry : entries) {
    RETURN_IF_ERROR(store::CheckRow(entry.result));
    RETURN_IF_ERROR(store::CheckOrigin(entry.result.key(), entry.origin));
    rows.push_back({&entry, store::MakeKept(entry.result, entry.origin), ""});
    if (!entry.program.has_value()) continue;
    ASSIGN_OR_RETURN(rows.back().compressed_program, Compress(*entry.program));
  }
  return sides_->writer.commits.Write([&]() -> absl::Status {
    for (const NewRow& row : rows) RETURN_IF_ERROR(WriteRow(row));
    return {};
  });
}

absl::Status TableProfileStore::WriteRow(const NewRow& row) {
  Writer& writer = sides_->writer;
  const store::Entry& entry = *row.entry;
  const std::string& key = entry.result.key();
  const std::string& team = entry.origin.team;
  ASSIGN_OR_RETURN(const std::optional<StoredProfile> there,
                   writer.profiles->Find(team, key));
  ProfileTables::Kept kept;
  if (there.has_value()) {
    ASSIGN_OR_RETURN(kept, writer.profiles->ReadKept(*there));
    if (kept.damaged > 0) WarnOfDamage(key, kDamagedMeasurement, {});
  }
  if (store::Admit(row.row, kept.rows, writer.Now())) {
    RETURN_IF_ERROR(writer.profiles->Write(
        team, key, kept.rows, entry.last_used_day.value_or(writer.Today())));
  }
  if (entry.result.outcome() == v1::MEASURED) {
    RETURN_IF_ERROR(writer.quarantine->Forget(key).status());
  }
  if (entry.crash.has_value()) {
    const store::Crash& crash = *entry.crash;
    RETURN_IF_ERROR(writer.quarantine
                        ->AddCrashes(key, crash.crashes, crash.reason,
                                     crash.log, writer.Now())
                        .status());
  }
  if (!entry.program.has_value()) return {};
  return writer.programs->Add(key, row.compressed_program,
                              static_cast<int64_t>(entry.program->size()));
}

absl::Status TableProfileStore::RemoveDamage(const DamagedRow& row) {
  Writer& writer = sides_->writer;
  return writer.commits.Write([&]() -> absl::Status {
    if (row.team.empty()) {
      RETURN_IF_ERROR(writer.programs->Remove(row.key));
      return writer.quarantine->AddDamaged(row.key, row.damage, writer.Now());
    }
    // Another process may have mended it meanwhile.
    ASSIGN_OR_RETURN(const std::optional<StoredProfile> there,
                     writer.profiles->Find(row.team, row.key));
    if (!there.has_value()) return {};
    ASSIGN_OR_RETURN(const ProfileTables::Kept kept,
                     writer.profiles->ReadKept(*there));
    if (there->damage.empty() && kept.damaged == 0) return {};
    if (kept.rows.empty()) {
      RETURN_IF_ERROR(writer.profiles->Remove(there->id));
    } else {
      RETURN_IF_ERROR(
          writer.profiles->Write(row.team, row.key, kept.rows, writer.Today()));
    }
    return writer.quarantine->AddDamaged(row.key, row.damage, writer.Now());
  });
}

void TableProfileStore::SetAside(const std::vector<DamagedRow>& rows) {
  for (const DamagedRow& row : rows) {
    WarnOfDamage(row.key, row.damage, RemoveDamage(row));
  }
}

void TableProfileStore::WarnOfDamage(const std::string& key,
                                     std::string_view damage,
                                     const absl::Status& set_aside) const {
  base::LogWarning(
      "the store ", sides_->writer.database->name(), " has a damaged row, ",
      std::string(damage), ": ",
      set_aside.ok() ? "set aside" : std::string(set_aside.message()),
      "; `meshwright plan` and `meshwright profiles remeasure PLAN` measure it "
      "again where a plan needs it: ",
      key);
}

absl::Status TableProfileStore::RecordPrograms(
    absl::Span<const store::Program> programs) {
  std::vector<std::string> compressed;
  for (const store::Program& it : programs) {
    RETURN_IF_ERROR(store::CheckKey(it.key));
    ASSIGN_OR_RETURN(compressed.emplace_back(), Compress(it.hlo));
  }
  return sides_->writer.commits.Write([&]() -> absl::Status {
    for (size_t i = 0; i < programs.size(); ++i) {
      const store::Program& it = programs[i];
      Writer& writer = sides_->writer;
      RETURN_IF_ERROR(writer.programs->Add(
          it.key, compressed[i], static_cast<int64_t>(it.hlo.size())));
      RETURN_IF_ERROR(writer.programs->Touch(
          it.key, it.last_used_day.value_or(writer.Today())));
    }
    return {};
  });
}

absl::StatusOr<std::optional<int64_t>> TableProfileStore::FindProgramBytes(
    const std::string& key) {
  sides_->writer.NoteSinceList(key);
  std::optional<int64_t> bytes;
  RETURN_IF_ERROR(sides_->reader.Read([&]() -> absl::Status {
    ASSIGN_OR_RETURN(bytes, sides_->reader.programs->FindBytes(key));
    return {};
  }));
  if (bytes.has_value()) NoteUse(key);
  return bytes;
}

absl::StatusOr<std::string> TableProfileStore::LookupProgram(
    const std::string& key) {
  sides_->writer.NoteSinceList(key);
  absl::StatusOr<std::string> program;
  RETURN_IF_ERROR(sides_->reader.Read([&] {
    program = sides_->reader.programs->Find(key);
    return program.status();
  }));
  NoteUse(key);
  return program;
}

void TableProfileStore::NoteUse(const std::string& key) {
  Writer& writer = sides_->writer;
  {
    const base::MutexLock lock(&writer.used_mutex);
    if (writer.used_programs.size() < kMaximumUsed) {
      writer.used_programs.insert(key);
    }
  }
  writer.FlushIfDue();
}

absl::StatusOr<store::Statistics> TableProfileStore::Count() {
  store::Statistics statistics;
  // It reads every row: look-ups do not wait for it.
  RETURN_IF_ERROR(sides_->scanner.Read([&]() -> absl::Status {
    RETURN_IF_ERROR(sides_->scanner.profiles->Count(statistics));
    return sides_->scanner.programs->Count(statistics);
  }));
  return statistics;
}

absl::Status TableProfileStore::ForEach(const Visit& visit) {
  std::vector<DamagedRow> damaged;
  RETURN_IF_ERROR(sides_->scanner.Read([&] {
    return sides_->scanner.profiles->ForEach(
        [&](StoredProfile& row, const store::Origin& origin) {
          if (row.damage.empty()) return visit(row.result, origin);
          damaged.push_back({row.team, row.key, row.damage});
          return true;
        });
  }));
  SetAside(damaged);
  return {};
}

absl::StatusOr<int> TableProfileStore::Quarantine(const std::string& key,
                                                  int crashes,
                                                  std::string_view reason,
                                                  std::string_view log) {
  RETURN_IF_ERROR(store::CheckKey(key));
  Writer& writer = sides_->writer;
  int total = 0;
  RETURN_IF_ERROR(writer.commits.Write([&]() -> absl::Status {
    ASSIGN_OR_RETURN(total, writer.quarantine->AddCrashes(key, crashes, reason,
                                                          log, writer.Now()));
    return {};
  }));
  return total;
}

absl::StatusOr<std::vector<store::QuarantineEntry>>
TableProfileStore::ListQuarantine() {
  std::vector<store::QuarantineEntry> entries;
  RETURN_IF_ERROR(sides_->reader.Read([&]() -> absl::Status {
    ASSIGN_OR_RETURN(entries, sides_->reader.quarantine->List());
    return {};
  }));
  return entries;
}

absl::Status TableProfileStore::RetryQuarantined(const std::string& key) {
  Writer& writer = sides_->writer;
  bool was_there = false;
  // An unknown key is no failure of the commit, which others share.
  RETURN_IF_ERROR(writer.commits.Write([&]() -> absl::Status {
    ASSIGN_OR_RETURN(was_there, writer.quarantine->Forget(key));
    if (!was_there) return {};
    return writer.profiles->RemoveCrashed(key);
  }));
  if (!was_there) return store::NotQuarantined(key);
  return {};
}

absl::Status TableProfileStore::ForEachWhole(const store::Scan& scan) {
  // The last uses of this process.
  RETURN_IF_ERROR(sides_->writer.FlushUsed());
  Reader& reader = sides_->scanner;
  std::vector<DamagedRow> damaged;
  const auto read_row = [&](StoredProfile& profile,
                            const store::Origin&) -> absl::StatusOr<bool> {
    if (!profile.damage.empty()) {
      damaged.push_back({profile.team, profile.key, profile.damage});
      return true;
    }
    ASSIGN_OR_RETURN(ProfileTables::Kept kept,
                     reader.profiles->ReadKept(profile));
    if (kept.damaged > 0) {
      damaged.push_back({profile.team, profile.key, kDamagedMeasurement});
    }
    RETURN_IF_ERROR(scan.row({.team = profile.team,
                              .key = profile.key,
                              .kept = std::move(kept.rows),
                              .last_used_day = profile.last_used_day,
                              .bytes = profile.bytes + kept.bytes}));
    return true;
  };
  const auto read_program =
      [&](const std::string& key,
          const absl::StatusOr<std::string>& hlo) -> absl::Status {
    if (hlo.ok()) return scan.program(key, *hlo);
    damaged.push_back({"", key, std::string(hlo.status().message())});
    return {};
  };
  RETURN_IF_ERROR(reader.Read([&]() -> absl::Status {
    if (scan.row) RETURN_IF_ERROR(reader.profiles->ForEach(read_row));
    if (scan.program) RETURN_IF_ERROR(reader.programs->ForEach(read_program));
    if (!scan.quarantined) return {};
    ASSIGN_OR_RETURN(const auto entries, reader.quarantine->List());
    for (const store::QuarantineEntry& entry : entries) {
      RETURN_IF_ERROR(scan.quarantined(entry));
    }
    return {};
  }));
  SetAside(damaged);
  return {};
}

absl::StatusOr<std::vector<store::ProgramUse>>
TableProfileStore::ListUnusedPrograms(int64_t day) {
  sides_->writer.BeginList();
  // The last uses of this process.
  RETURN_IF_ERROR(sides_->writer.FlushUsed());
  Reader& reader = sides_->scanner;
  std::vector<store::ProgramUse> unused;
  RETURN_IF_ERROR(reader.Read([&]() -> absl::Status {
    unused.clear();
    ASSIGN_OR_RETURN(const auto teams, reader.profiles->ListTeams());
    ASSIGN_OR_RETURN(const auto programs, reader.programs->ListUnused(day));
    for (const store::ProgramUse& it : programs) {
      if (!store::IsKey(it.key)) continue;  // of a store of version 1
      ASSIGN_OR_RETURN(const bool is_needed, reader.IsNamed(teams, it.key));
      if (!is_needed) unused.push_back(it);
    }
    return {};
  }));
  return unused;
}

absl::StatusOr<int64_t> TableProfileStore::RemovePrograms(
    absl::Span<const store::UnusedProgram> programs) {
  for (const store::UnusedProgram& it : programs) {
    RETURN_IF_ERROR(store::CheckKey(it.key));
  }
  Writer& writer = sides_->writer;
  int64_t removed = 0;
  const absl::Status status = writer.commits.Write([&]() -> absl::Status {
    removed = 0;
    ASSIGN_OR_RETURN(const auto teams, writer.profiles->ListTeams());
    for (const store::UnusedProgram& it : programs) {
      ASSIGN_OR_RETURN(const bool is_needed, writer.IsNamed(teams, it.key));
      ASSIGN_OR_RETURN(const auto bytes, writer.programs->FindBytes(it.key));
      if (is_needed || !bytes.has_value()) continue;
      if (writer.IsUseNoted(it.key)) {
        RETURN_IF_ERROR(writer.programs->Touch(it.key, writer.Today()));
      }
      ASSIGN_OR_RETURN(const int64_t day, writer.programs->FindLastUse(it.key));
      const bool is_used =
          it.last_used_day <= writer.Today() && writer.IsUsedSinceList(it.key);
      if (is_used || day > it.last_used_day) continue;
      RETURN_IF_ERROR(writer.programs->Remove(it.key));
      ++removed;
    }
    return {};
  });
  writer.EndList();
  RETURN_IF_ERROR(status);
  return removed;
}

absl::StatusOr<int64_t> TableProfileStore::Remove(
    absl::Span<const store::UnusedRow> rows) {
  for (const store::UnusedRow& row : rows) {
    RETURN_IF_ERROR(store::CheckKey(row.key));
  }
  Writer& writer = sides_->writer;
  int64_t removed = 0;
  RETURN_IF_ERROR(writer.commits.Write([&]() -> absl::Status {
    removed = 0;
    ASSIGN_OR_RETURN(const auto teams, writer.profiles->ListTeams());
    for (const store::UnusedRow& it : rows) {
      ASSIGN_OR_RETURN(const auto row, writer.profiles->Find(it.team, it.key));
      if (!row.has_value() || row->last_used_day > it.last_used_day) continue;
      {
        const base::MutexLock lock(&writer.used_mutex);
        if (writer.used.contains(row->id)) continue;
      }
      RETURN_IF_ERROR(writer.profiles->Remove(row->id));
      ++removed;
      ASSIGN_OR_RETURN(const bool is_needed, writer.IsNamed(teams, it.key));
      if (!is_needed) RETURN_IF_ERROR(writer.programs->Remove(it.key));
    }
    return {};
  }));
  return removed;
}

absl::StatusOr<std::vector<DamagedRow>> TableProfileStore::Verify() {
  Reader& reader = sides_->scanner;
  std::vector<DamagedRow> damaged;
  const auto check_row = [&](StoredProfile& profile,
                             const store::Origin&) -> absl::StatusOr<bool> {
    if (!profile.damage.empty()) {
      damaged.push_back({profile.team, profile.key, profile.damage});
      return true;
    }
    ASSIGN_OR_RETURN(const ProfileTables::Kept kept,
                     reader.profiles->ReadKept(profile));
    if (kept.damaged > 0) {
      damaged.push_back({profile.team, profile.key, kDamagedMeasurement});
    }
    return true;
  };
  RETURN_IF_ERROR(reader.Read([&]() -> absl::Status {
    RETURN_IF_ERROR(reader.database->Check());
    RETURN_IF_ERROR(reader.profiles->ForEach(check_row));
    return reader.programs->ForEach(
        [&](const std::string& key, const absl::StatusOr<std::string>& hlo) {
          if (!hlo.ok()) {
            damaged.push_back({"", key, std::string(hlo.status().message())});
          }
          return absl::Status();
        });
  }));
  for (const DamagedRow& row : damaged) RETURN_IF_ERROR(RemoveDamage(row));
  return damaged;
}

}  // namespace meshwright::tables
