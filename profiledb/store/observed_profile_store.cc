#include "profiledb/store/observed_profile_store.h"

namespace meshwright::store {

absl::StatusOr<Results> ObservedProfileStore::Lookup(
    absl::Span<const std::string> keys, const LookupOptions& options) {
  absl::StatusOr<Results> found = store_->Lookup(keys, options);
  if (found.ok()) {
    const auto hits = static_cast<int64_t>(found->size());
    observer_->AddLookups(hits, static_cast<int64_t>(keys.size()) - hits);
  }
  return found;
}

absl::StatusOr<std::vector<KeptRow>> ObservedProfileStore::LookupKept(
    const std::string& key, const std::string& team) {
  return store_->LookupKept(key, team);
}

absl::Status ObservedProfileStore::Record(absl::Span<const Entry> entries) {
  return store_->Record(entries);
}

absl::Status ObservedProfileStore::RecordPrograms(
    absl::Span<const Program> programs) {
  return store_->RecordPrograms(programs);
}

absl::StatusOr<std::optional<int64_t>> ObservedProfileStore::FindProgramBytes(
    const std::string& key) {
  return store_->FindProgramBytes(key);
}

absl::StatusOr<std::string> ObservedProfileStore::LookupProgram(
    const std::string& key) {
  return store_->LookupProgram(key);
}

absl::StatusOr<Statistics> ObservedProfileStore::Count() {
  return store_->Count();
}

absl::Status ObservedProfileStore::ForEach(const Visit& visit) {
  return store_->ForEach(visit);
}

absl::StatusOr<int> ObservedProfileStore::Quarantine(const std::string& key,
                                                     int crashes,
                                                     std::string_view reason,
                                                     std::string_view log) {
  return store_->Quarantine(key, crashes, reason, log);
}

absl::StatusOr<std::vector<QuarantineEntry>>
ObservedProfileStore::ListQuarantine() {
  return store_->ListQuarantine();
}

absl::Status ObservedProfileStore::RetryQuarantined(const std::string& key) {
  return store_->RetryQuarantined(key);
}

absl::Status ObservedProfileStore::ForEachWhole(const Scan& scan) {
  return store_->ForEachWhole(scan);
}

absl::StatusOr<std::vector<ProgramUse>>
ObservedProfileStore::ListUnusedPrograms(int64_t day) {
  return store_->ListUnusedPrograms(day);
}

absl::StatusOr<int64_t> ObservedProfileStore::RemovePrograms(
    absl::Span<const UnusedProgram> programs) {
  return store_->RemovePrograms(programs);
}

absl::StatusOr<int64_t> ObservedProfileStore::Remove(
    absl::Span<const UnusedRow> rows) {
  return store_->Remove(rows);
}

absl::StatusOr<std::vector<DamagedRow>> ObservedProfileStore::Verify() {
  return store_->Verify();
}

}  // namespace meshwright::store
