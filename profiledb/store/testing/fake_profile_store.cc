#include "profiledb/store/testing/fake_profile_store.h"

#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/status_macros.h"
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
      const v1::ProfileResult& result = row->second.result;
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

absl::Status FakeProfileStore::Record(const v1::ProfileResult& result,
                                      const Origin& origin) {
  RETURN_IF_ERROR(CheckRow(result));
  const base::MutexLock lock(&mutex_);
  const auto [row, is_new] =
      rows_.try_emplace({origin.team, result.key()}, Row{result, origin});
  if (!is_new && Replaces(row->second.result.outcome(), result.outcome())) {
    row->second = {result, origin};
  }
  return {};
}

absl::Status FakeProfileStore::RecordProgram(const std::string& key,
                                             std::string_view hlo) {
  if (key.empty()) return absl::InvalidArgumentError("a program has no key");
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
    ++statistics.profiles[row.result.outcome()];
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
    if (!visit(row.result, row.origin)) break;
  }
  return {};
}

}  // namespace meshwright::store
