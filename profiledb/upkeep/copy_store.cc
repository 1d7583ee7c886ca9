#include "profiledb/upkeep/copy_store.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/status_macros.h"
#include "profiledb/store/check_row.h"

namespace meshwright::store {
namespace {

constexpr size_t kEntriesPerWrite = 500;
constexpr size_t kProgramBytesPerWrite = 16 << 20;
constexpr int kMaximumLeftListed = 100;

// Collects what a scan reads and writes it a batch at a time.
class Copier {
 public:
  explicit Copier(ProfileStore& to) : to_(to) {}

  absl::Status Add(const WholeRow& row) {
    report_.set_rows(report_.rows() + 1);
    for (const KeptRow& kept : row.kept) {
      Entry entry{.result = kept.result,
                  .origin = kept.origin,
                  .last_used_day = row.last_used_day};
      absl::Status status = CheckRow(entry.result);
      if (status.ok()) status = CheckOrigin(row.key, entry.origin);
      if (!status.ok()) {
        Leave(row.key, std::string(status.message()));
        continue;
      }
      report_.set_measurements(report_.measurements() + 1);
      entries_.push_back(std::move(entry));
    }
    if (entries_.size() < kEntriesPerWrite) return {};
    return WriteEntries();
  }

  absl::Status Add(const std::string& key, std::string_view hlo) {
    if (!IsKey(key)) {
      Leave(key, "its key is not 64 lower-case hex digits");
      return {};
    }
    report_.set_programs(report_.programs() + 1);
    program_bytes_ += hlo.size();
    programs_.emplace_back(key, hlo);
    if (program_bytes_ < kProgramBytesPerWrite) return {};
    return WritePrograms();
  }

  absl::Status Add(const QuarantineEntry& entry) {
    if (entry.state == QuarantineState::kDamaged) return {};
    crashes_.push_back(entry);
    return {};
  }

  absl::StatusOr<v1::MigrateReport> Finish() {
    RETURN_IF_ERROR(WriteEntries());
    RETURN_IF_ERROR(WritePrograms());
    ASSIGN_OR_RETURN(const auto listed, to_.ListQuarantine());
    absl::flat_hash_set<std::string> there;
    for (const QuarantineEntry& entry : listed) there.insert(entry.key);
    for (const QuarantineEntry& entry : crashes_) {
      report_.set_quarantined(report_.quarantined() + 1);
      if (there.contains(entry.key)) continue;
      RETURN_IF_ERROR(
          to_.Quarantine(entry.key, entry.crashes, entry.reason, entry.log)
              .status());
    }
    return report_;
  }

 private:
  absl::Status WriteEntries() {
    RETURN_IF_ERROR(to_.Record(entries_));
    entries_.clear();
    return {};
  }

  absl::Status WritePrograms() {
    std::vector<Program> programs;
    for (const auto& [key, hlo] : programs_) programs.push_back({key, hlo});
    RETURN_IF_ERROR(to_.RecordPrograms(programs));
    programs_.clear();
    program_bytes_ = 0;
    return {};
  }

  void Leave(const std::string& key, const std::string& reason) {
    report_.set_left(report_.left() + 1);
    if (report_.left_rows_size() == kMaximumLeftListed) return;
    v1::LeftRow& row = *report_.add_left_rows();
    row.set_key(key);
    row.set_reason(reason);
  }

  ProfileStore& to_;
  v1::MigrateReport report_;
  std::vector<Entry> entries_;
  std::vector<std::pair<std::string, std::string>> programs_;
  size_t program_bytes_ = 0;
  std::vector<QuarantineEntry> crashes_;
};

}  // namespace

absl::StatusOr<v1::MigrateReport> CopyStore(ProfileStore& from,
                                            ProfileStore& to) {
  Copier copier(to);
  RETURN_IF_ERROR(from.ForEachWhole(
      {.row = [&](const WholeRow& row) { return copier.Add(row); },
       .program = [&](const std::string& key,
                      std::string_view hlo) { return copier.Add(key, hlo); },
       .quarantined =
           [&](const QuarantineEntry& entry) { return copier.Add(entry); }}));
  return copier.Finish();
}

}  // namespace meshwright::store
