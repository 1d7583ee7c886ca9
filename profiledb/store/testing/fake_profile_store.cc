#include "profiledb/store/testing/fake_profile_store.h"

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
      if (options.retry_failures && IsFailure(result.outcome())) continue;
      const auto known = results.find(key);
      if (known == results.end() ||
          Rank(result.outcome()) > Rank(known->second.outcome())) {
        results[key] = result;
      }
    }
  }
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

absl::Status FakeProfileStore::Record(const v1::ProfileResult& result,
                                      const Origin& origin) {
  RETURN_IF_ERROR(CheckRow(result));
  const base::MutexLock lock(&mutex_);
  Keep(result, origin);
  return {};
}

void FakeProfileStore::Plant(const v1::ProfileResult& result,
                             const Origin& origin) {
  const base::MutexLock lock(&mutex_);
  Keep(result, origin);
}

void FakeProfileStore::Keep(const v1::ProfileResult& result,
                            const Origin& origin) {
  Row& row = rows_[{origin.team, result.key()}];
  if (Admit(MakeKept(result, origin), row.kept)) {
    row.answer = MakeAnswer(row.kept);
  }
  if (result.outcome() == v1::MEASURED) quarantine_.erase(result.key());
}

absl::Status FakeProfileStore::RecordProgram(const std::string& key,
                                             std::string_view hlo) {
  RETURN_IF_ERROR(CheckKey(key));
  const base::MutexLock lock(&mutex_);
  programs_.try_emplace(key, hlo);
  return {};
}

absl::StatusOr<std::string> FakeProfileStore::LookupProgram(
    const std::string& key) {
  const base::MutexLock lock(&mutex_);
  const auto program = programs_.find(key);
  if (program != programs_.end()) return program->second;
  return absl::NotFoundError(absl::StrCat("no program has the key ", key));
}

absl::StatusOr<Statistics> FakeProfileStore::Count() {
  const base::MutexLock lock(&mutex_);
  Statistics statistics;
  for (const auto& [key, row] : rows_) {
    ++statistics.profiles[row.answer.result.outcome()];
  }
  for (const auto& [key, hlo] : programs_) {
    ++statistics.programs;
    statistics.program_bytes += hlo.size();
    statistics.compressed_program_bytes += hlo.size();
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
  QuarantineEntry& entry = quarantine_[key];
  entry.key = key;
  entry.crashes += crashes;
  entry.state = entry.crashes < kCrashesToQuarantine
                    ? QuarantineState::kCrashing
                    : QuarantineState::kQuarantined;
  entry.reason = reason;
  entry.log = CutLog(log);
  entry.recorded = std::chrono::system_clock::now();
  return entry.crashes;
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

}  // namespace meshwright::store
