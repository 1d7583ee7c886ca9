#include "profiledb/store/testing/fake_profile_store.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "profiledb/store/check_row.h"
#include "profiledb/store/precedence.h"

namespace meshwright::store {

absl::StatusOr<Results> FakeProfileStore::Lookup(
    absl::Span<const std::string> keys, const LookupOptions& options) {
  const base::MutexLock lock(&mutex_);
  Results results;
  for (const std::string& key : keys) {
    // The shared pool's row counts only if it ranks above the team's.
    for (const std::string& space : {options.team, std::string(kSharedPool)}) {
      const auto row = rows_.find({space, key});
      if (row == rows_.end()) continue;
      const v1::ProfileResult& result = row->second.answer.result;
      const auto held = quarantine_.find(key);
      const bool is_held = held != quarantine_.end() &&
                           held->second.state == QuarantineState::kQuarantined;
      if (!is_held && IsRetried(result.outcome(), options)) continue;
      row->second.last_used_day = Today();
      const auto known = results.find(key);
      if (known == results.end() ||
          Rank(result.outcome()) > Rank(known->second.outcome())) {
        results[key] = result;
      }
    }
  }
  NoteLookup(keys.size(), results.size());
  return results;
}

absl::StatusOr<std::vector<KeptRow>> FakeProfileStore::LookupKept(
    const std::string& key, const std::string& team) {
  const base::MutexLock lock(&mutex_);
  const auto row = rows_.find({team, key});
  if (row == rows_.end()) return std::vector<KeptRow>();
  std::vector<KeptRow> kept = row->second.kept;
  MarkSuspects(kept);
  return kept;
}

absl::Status FakeProfileStore::Record(absl::Span<const Entry> entries) {
  for (const Entry& entry : entries) {
    RETURN_IF_ERROR(CheckRow(entry.result));
    RETURN_IF_ERROR(CheckOrigin(entry.result.key(), entry.origin));
  }
  const base::MutexLock lock(&mutex_);
  for (const Entry& entry : entries) {
    const std::string& key = entry.result.key();
    Keep(entry.result, entry.origin, entry.last_used_day.value_or(Today()));
    if (entry.crash.has_value()) Count(key, *entry.crash);
    if (entry.program.has_value()) {
      KeepProgram(key, *entry.program, entry.last_used_day.value_or(Today()));
    }
  }
  return {};
}

void FakeProfileStore::Plant(const v1::ProfileResult& result,
                             const Origin& origin) {
  const base::MutexLock lock(&mutex_);
  Keep(result, origin, Today());
}

void FakeProfileStore::Keep(const v1::ProfileResult& result,
                            const Origin& origin, int64_t last_used_day) {
  Row& row = rows_[{origin.team, result.key()}];
  if (Admit(MakeKept(result, origin), row.kept,
            std::chrono::system_clock::now())) {
    row.answer = MakeAnswer(row.kept);
    row.last_used_day = last_used_day;
  }
  if (result.outcome() == v1::MEASURED) quarantine_.erase(result.key());
}

int FakeProfileStore::Count(const std::string& key, const Crash& crash) {
  QuarantineEntry& entry = quarantine_[key];
  entry.key = key;
  entry.crashes += crash.crashes;
  entry.state = entry.crashes < kCrashesToQuarantine
                    ? QuarantineState::kCrashing
                    : QuarantineState::kQuarantined;
  entry.reason = crash.reason;
  entry.log = CutLog(crash.log);
  entry.recorded = std::chrono::system_clock::now();
  return entry.crashes;
}

int64_t FakeProfileStore::Today() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())
      .time_since_epoch()
      .count();
}

absl::Status FakeProfileStore::RecordPrograms(
    absl::Span<const Program> programs) {
  for (const Program& it : programs) RETURN_IF_ERROR(CheckKey(it.key));
  const base::MutexLock lock(&mutex_);
  for (const Program& it : programs) {
    KeepProgram(it.key, it.hlo, it.last_used_day.value_or(Today()));
  }
  return {};
}

void FakeProfileStore::KeepProgram(const std::string& key, std::string_view hlo,
                                   int64_t day) {
  KeptProgram& kept = programs_.try_emplace(key).first->second;
  if (kept.last_used_day == 0) kept.hlo = std::string(hlo);
  kept.last_used_day = std::max(kept.last_used_day, day);
}

void FakeProfileStore::NoteUse(const std::string& key, KeptProgram& program) {
  program.last_used_day = Today();
  if (used_since_list_.has_value()) used_since_list_->insert(key);
}

absl::StatusOr<std::optional<int64_t>> FakeProfileStore::FindProgramBytes(
    const std::string& key) {
  base::MutexLock lock(&mutex_);
  const auto found = programs_.find(key);
  if (found == programs_.end()) return std::nullopt;
  NoteUse(key, found->second);
  return static_cast<int64_t>(found->second.hlo.size());
}

absl::StatusOr<std::string> FakeProfileStore::LookupProgram(
    const std::string& key) {
  const base::MutexLock lock(&mutex_);
  const auto program = programs_.find(key);
  if (program == programs_.end()) {
    return absl::NotFoundError(absl::StrCat("no program has the key ", key));
  }
  NoteUse(key, program->second);
  return program->second.hlo;
}

absl::StatusOr<Statistics> FakeProfileStore::Count() {
  const base::MutexLock lock(&mutex_);
  Statistics statistics;
  for (const auto& [key, row] : rows_) {
    const v1::ProfileResult& result = row.answer.result;
    ++statistics.profiles[result.outcome()];
    if (result.outcome() != v1::MEASURED) continue;
    RowCount& count = statistics.measured[result.measurement().quality()];
    ++count.rows;
    count.bytes += static_cast<int64_t>(result.ByteSizeLong());
  }
  for (const auto& [key, program] : programs_) {
    ++statistics.programs;
    statistics.program_bytes += program.hlo.size();
    statistics.compressed_program_bytes += program.hlo.size();
  }
  return statistics;
}

absl::Status FakeProfileStore::ForEach(const Visit& visit) {
  const base::MutexLock lock(&mutex_);
  for (const auto& [key, row] : rows_) {
    const Answer& answer = row.answer;
    if (!visit(answer.result, row.kept[answer.chosen].origin)) break;
  }
  return {};
}

absl::StatusOr<int> FakeProfileStore::Quarantine(const std::string& key,
                                                 int crashes,
                                                 std::string_view reason,
                                                 std::string_view log) {
  RETURN_IF_ERROR(CheckKey(key));
  const base::MutexLock lock(&mutex_);
  return Count(key, {.crashes = crashes, .reason = reason, .log = log});
}

absl::StatusOr<std::vector<QuarantineEntry>>
FakeProfileStore::ListQuarantine() {
  const base::MutexLock lock(&mutex_);
  std::vector<QuarantineEntry> entries;
  for (const auto& [key, entry] : quarantine_) {
    entries.push_back(entry);
    entries.back().has_program = programs_.contains(key);
  }
  return entries;
}

absl::Status FakeProfileStore::RetryQuarantined(const std::string& key) {
  const base::MutexLock lock(&mutex_);
  if (quarantine_.erase(key) == 0) return NotQuarantined(key);
  std::erase_if(rows_, [&](const auto& row) {
    return row.first.second == key &&
           row.second.answer.result.outcome() == v1::CRASHED;
  });
  return {};
}

absl::Status FakeProfileStore::ForEachWhole(const Scan& scan) {
  const base::MutexLock lock(&mutex_);
  for (const auto& [name, row] : rows_) {
    if (!scan.row) break;
    WholeRow whole{.team = name.first,
                   .key = name.second,
                   .kept = row.kept,
                   .last_used_day = row.last_used_day};
    for (const KeptRow& kept : row.kept) {
      whole.bytes += static_cast<int64_t>(kept.result.ByteSizeLong());
    }
    const auto program = programs_.find(name.second);
    if (program != programs_.end()) {
      whole.bytes += static_cast<int64_t>(program->second.hlo.size());
    }
    RETURN_IF_ERROR(scan.row(whole));
  }
  for (const auto& [key, program] : programs_) {
    if (!scan.program) break;
    RETURN_IF_ERROR(scan.program(key, program.hlo));
  }
  for (const auto& [key, entry] : quarantine_) {
    if (scan.quarantined) RETURN_IF_ERROR(scan.quarantined(entry));
  }
  return {};
}

absl::StatusOr<int64_t> FakeProfileStore::Remove(
    absl::Span<const UnusedRow> rows) {
  const base::MutexLock lock(&mutex_);
  int64_t removed = 0;
  for (const UnusedRow& it : rows) {
    const auto row = rows_.find({it.team, it.key});
    if (row == rows_.end() || row->second.last_used_day > it.last_used_day) {
      continue;
    }
    rows_.erase(row);
    ++removed;
    if (!IsNamed(it.key)) programs_.erase(it.key);
  }
  return removed;
}

bool FakeProfileStore::IsNamed(const std::string& key) const {
  return quarantine_.contains(key) ||
         std::any_of(rows_.begin(), rows_.end(),
                     [&](const auto& row) { return row.first.second == key; });
}

absl::StatusOr<std::vector<ProgramUse>> FakeProfileStore::ListUnusedPrograms(
    int64_t day) {
  const base::MutexLock lock(&mutex_);
  if (!used_since_list_.has_value()) used_since_list_.emplace();
  std::vector<ProgramUse> unused;
  for (const auto& [key, program] : programs_) {
    if (program.last_used_day >= day || IsNamed(key)) continue;
    unused.push_back({.key = key,
                      .bytes = static_cast<int64_t>(program.hlo.size()),
                      .last_used_day = program.last_used_day});
  }
  return unused;
}

absl::StatusOr<int64_t> FakeProfileStore::RemovePrograms(
    absl::Span<const UnusedProgram> programs) {
  const base::MutexLock lock(&mutex_);
  int64_t removed = 0;
  for (const UnusedProgram& it : programs) {
    const auto found = programs_.find(it.key);
    const bool is_used = it.last_used_day <= Today() &&
                         used_since_list_.has_value() &&
                         used_since_list_->contains(it.key);
    if (found == programs_.end() || IsNamed(it.key) || is_used ||
        found->second.last_used_day > it.last_used_day) {
      continue;
    }
    programs_.erase(found);
    ++removed;
  }
  used_since_list_.reset();
  return removed;
}

absl::StatusOr<std::vector<DamagedRow>> FakeProfileStore::Verify() {
  return std::vector<DamagedRow>();
}

}  // namespace meshwright::store
