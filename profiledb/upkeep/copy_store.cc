#include "profiledb/upkeep/copy_store.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/status_macros.h"
#include "profiledb/store/check_row.h"
#include "profiledb/store/plan_pages.h"
#include "profiledb/store/plan_updates.h"

namespace meshwright::store {
namespace {

constexpr size_t kEntriesPerWrite = 500;
constexpr size_t kProgramBytesPerWrite = 16 << 20;
constexpr int kAuditRowsPerWrite = 1000;
constexpr int kMaximumLeftListed = 100;

void Leave(const std::string& what, const std::string& reason,
           v1::MigrateReport& report) {
  report.set_left(report.left() + 1);
  if (report.left_rows_size() == kMaximumLeftListed) return;
  v1::LeftRow& row = *report.add_left_rows();
  row.set_key(what);
  row.set_reason(reason);
}

// Collects what a scan reads and writes it a batch at a time.
class Copier {
 public:
  // `uses`: of programs that no row names. `report` outlives it.
  Copier(ProfileStore& to, const std::vector<ProgramUse>& uses,
         v1::MigrateReport& report)
      : to_(to), report_(report) {
    for (const ProgramUse& use : uses) days_[use.key] = use.last_used_day;
  }

  absl::Status Add(const WholeRow& row) {
    report_.set_rows(report_.rows() + 1);
    for (const KeptRow& kept : row.kept) {
      Entry entry{.result = kept.result,
                  .origin = kept.origin,
                  .last_used_day = row.last_used_day};
      absl::Status status = CheckRow(entry.result);
      if (status.ok()) status = CheckOrigin(row.key, entry.origin);
      if (!status.ok()) {
        Leave(row.key, std::string(status.message()), report_);
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
      Leave(key, "its key is not 64 lower-case hex digits", report_);
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

  absl::Status Finish() {
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
    return {};
  }

 private:
  absl::Status WriteEntries() {
    RETURN_IF_ERROR(to_.Record(entries_));
    entries_.clear();
    return {};
  }

  absl::Status WritePrograms() {
    std::vector<Program> programs;
    for (const auto& [key, hlo] : programs_) {
      programs.push_back({.key = key, .hlo = hlo});
      const auto day = days_.find(key);
      if (day != days_.end()) programs.back().last_used_day = day->second;
    }
    RETURN_IF_ERROR(to_.RecordPrograms(programs));
    programs_.clear();
    program_bytes_ = 0;
    return {};
  }

  ProfileStore& to_;
  v1::MigrateReport& report_;
  absl::flat_hash_map<std::string, int64_t> days_;
  std::vector<Entry> entries_;
  std::vector<std::pair<std::string, std::string>> programs_;
  size_t program_bytes_ = 0;
  std::vector<QuarantineEntry> crashes_;
};

// Oldest first.
absl::StatusOr<std::vector<PlanId>> ListPlanIds(PlanStore& plans) {
  std::vector<PlanId> ids;
  RETURN_IF_ERROR(ForEachPlan(plans, {}, [&](PlanId id, const v1::PlanRecord&) {
    ids.push_back(id);
    return absl::OkStatus();
  }));
  std::reverse(ids.begin(), ids.end());
  return ids;
}

struct WholePlan {
  v1::PlanRecord record;
  std::vector<v1::PlanUpdate> updates;
};

// kNotFound for one that was removed, kDataLoss for one that is damaged.
absl::StatusOr<WholePlan> ReadPlan(PlanStore& plans, PlanId id) {
  WholePlan plan;
  ASSIGN_OR_RETURN(plan.record, plans.Get(id));
  // Those that came meanwhile belong to a later record.
  ASSIGN_OR_RETURN(
      plan.updates,
      plans.ReadUpdates(id, 0, static_cast<int>(plan.record.sequence())));
  const absl::Status whole = CheckWhole(plan.record, plan.updates);
  if (!whole.ok()) return absl::DataLossError(whole.message());
  return plan;
}

absl::Status CopyPlan(PlanStore& from, PlanStore& to, PlanId id,
                      v1::MigrateReport& report) {
  const absl::StatusOr<WholePlan> plan = ReadPlan(from, id);
  if (absl::IsNotFound(plan.status())) return {};
  if (absl::IsDataLoss(plan.status())) {
    Leave(FormatPlanId(id), std::string(plan.status().message()), report);
    return {};
  }
  RETURN_IF_ERROR(plan.status());
  absl::Status restored = to.Restore(plan->record, plan->updates);
  if (absl::IsAlreadyExists(restored)) {
    Leave(plan->record.id(), std::string(restored.message()), report);
    return {};
  }
  report.set_plans(report.plans() + 1);
  return restored;
}

absl::Status CopyRows(ProfileStore& from, ProfileStore& to,
                      v1::MigrateReport& report) {
  ASSIGN_OR_RETURN(
      const std::vector<ProgramUse> uses,
      from.ListUnusedPrograms(std::numeric_limits<int64_t>::max()));
  Copier copier(to, uses, report);
  RETURN_IF_ERROR(from.ForEachWhole(
      {.row = [&](const WholeRow& row) { return copier.Add(row); },
       .program = [&](const std::string& key,
                      std::string_view hlo) { return copier.Add(key, hlo); },
       .quarantined =
           [&](const QuarantineEntry& entry) { return copier.Add(entry); }}));
  return copier.Finish();
}

absl::Status CopyAudit(PlanStore& from, PlanStore& to) {
  for (int64_t after = 0;;) {
    ASSIGN_OR_RETURN(const std::vector<AuditRow> rows,
                     from.ReadAudit(after, kAuditRowsPerWrite));
    if (rows.empty()) return {};
    after = rows.back().number;
    RETURN_IF_ERROR(to.RecordAudit(rows));
  }
}

}  // namespace

absl::StatusOr<v1::MigrateReport> CopyWholeStore(const StoreHalves& from,
                                                 const StoreHalves& to) {
  ASSIGN_OR_RETURN(const std::vector<PlanId> ids, ListPlanIds(*from.plans));
  v1::MigrateReport report;
  // Before the rows: a plan then has all that it states.
  for (const PlanId id : ids) {
    RETURN_IF_ERROR(CopyPlan(*from.plans, *to.plans, id, report));
  }
  RETURN_IF_ERROR(CopyRows(*from.profiles, *to.profiles, report));
  ASSIGN_OR_RETURN(const auto devices, from.plans->ListDevices());
  for (const v1::DeviceRecord& device : devices) {
    RETURN_IF_ERROR(to.plans->RememberDevice(device));
  }
  ASSIGN_OR_RETURN(const auto orders, from.plans->ListOrders());
  for (const v1::WorkerOrder& order : orders) {
    RETURN_IF_ERROR(to.plans->SetOrder(std::nullopt, order));
  }
  RETURN_IF_ERROR(CopyAudit(*from.plans, *to.plans));
  return report;
}

absl::StatusOr<v1::MigrateReport> CopyStore(ProfileStore& from,
                                            ProfileStore& to) {
  v1::MigrateReport report;
  RETURN_IF_ERROR(CopyRows(from, to, report));
  return report;
}

}  // namespace meshwright::store
