#include "profiledb/upkeep/store_reports.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/enum_words.h"
#include "base/status_macros.h"
#include "profiledb/store/check_row.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/text.h"

namespace meshwright::store {
namespace {

v1::QuarantinedProgram::State ReportState(QuarantineState state) {
  switch (state) {
    case QuarantineState::kCrashing:
      return v1::QuarantinedProgram::CRASHING;
    case QuarantineState::kQuarantined:
      return v1::QuarantinedProgram::QUARANTINED;
    case QuarantineState::kDamaged:
      return v1::QuarantinedProgram::DAMAGED;
  }
  return v1::QuarantinedProgram::STATE_UNSPECIFIED;
}

// Of the logs of a report together, and of the reasons; an entry has an equal
// part, or kMinimumPart.
constexpr size_t kMaximumTexts = 6 << 20;
constexpr size_t kMinimumPart = 512;

v1::KeptMeasurement ReportKept(const KeptRow& row) {
  v1::KeptMeasurement kept;
  kept.set_host(row.origin.host);
  kept.set_worker(row.origin.worker);
  kept.set_machine(row.origin.machine);
  kept.set_recorded_unix_ns(row.origin.recorded.time_since_epoch().count());
  *kept.mutable_result() = row.result;
  return kept;
}

}  // namespace

absl::StatusOr<v1::StoreReport> ReportStore(ProfileStore& store) {
  v1::StoreReport report;
  ASSIGN_OR_RETURN(const Statistics statistics, store.Count());
  for (const auto& [outcome, count] : statistics.profiles) {
    (*report.mutable_outcomes())[absl::AsciiStrToLower(
        v1::Outcome_Name(outcome))] = count;
  }
  report.set_programs(statistics.programs);
  report.set_program_bytes(statistics.program_bytes);
  report.set_compressed_program_bytes(statistics.compressed_program_bytes);
  std::map<std::string, v1::MachineRows> machines;
  RETURN_IF_ERROR(
      store.ForEach([&](const v1::ProfileResult& row, const Origin& origin) {
        if (row.outcome() == v1::MEASURED) {
          ++(*report.mutable_qualities())[base::LowerName(
              v1::Quality_Name(row.measurement().quality()))];
        }
        v1::MachineRows& machine = machines[origin.machine];
        machine.set_machine(origin.machine);
        machine.set_host(origin.host);
        machine.set_rows(machine.rows() + 1);
        return true;
      }));
  for (const auto& [digest, machine] : machines) {
    *report.add_machines() = machine;
  }
  ASSIGN_OR_RETURN(const auto quarantine, store.ListQuarantine());
  report.set_quarantined(static_cast<int64_t>(quarantine.size()));
  return report;
}

absl::StatusOr<v1::QuarantineReport> ReportQuarantine(ProfileStore& store) {
  ASSIGN_OR_RETURN(const auto entries, store.ListQuarantine());
  v1::QuarantineReport report;
  const size_t part = std::max(
      kMaximumTexts / std::max<size_t>(entries.size(), 1), kMinimumPart);
  for (const QuarantineEntry& entry : entries) {
    v1::QuarantinedProgram& it = *report.add_programs();
    it.set_key(entry.key);
    it.set_state(ReportState(entry.state));
    it.set_crashes(entry.crashes);
    const size_t skipped = entry.log.size() - std::min(entry.log.size(), part);
    it.set_reason(MendText(std::string_view(entry.reason).substr(0, part)));
    it.set_log(MendText(std::string_view(entry.log).substr(skipped)));
    it.set_has_program(entry.has_program);
  }
  return report;
}

absl::StatusOr<v1::VerifyReport> ReportDamage(ProfileStore& store,
                                              PlanStore& plans) {
  ASSIGN_OR_RETURN(const auto damaged, store.Verify());
  v1::VerifyReport report;
  for (const DamagedRow& row : damaged) {
    v1::DamagedEntry& it = *report.add_damaged();
    it.set_team(row.team);
    it.set_key(row.key);
    it.set_damage(row.damage);
  }
  ASSIGN_OR_RETURN(const auto damaged_plans, plans.Verify());
  for (const DamagedPlan& plan : damaged_plans) {
    v1::DamagedEntry& it = *report.add_damaged();
    it.set_team(plan.team);
    it.set_key(FormatPlanId(plan.id));
    it.set_damage(plan.damage);
  }
  return report;
}

absl::StatusOr<v1::RowsReport> ReportRows(ProfileStore& store,
                                          absl::Span<const std::string> keys,
                                          const std::string& team) {
  for (const std::string& key : keys) RETURN_IF_ERROR(CheckKey(key));
  ASSIGN_OR_RETURN(const Results rows, store.Lookup(keys, {.team = team}));
  v1::RowsReport report;
  for (const std::string& key : keys) {
    v1::RowReport& it = *report.add_rows();
    it.set_key(key);
    const auto found = rows.find(key);
    if (found == rows.end()) continue;
    *it.mutable_row() = found->second;
    ASSIGN_OR_RETURN(std::vector<KeptRow> kept, store.LookupKept(key, team));
    if (kept.empty()) {
      ASSIGN_OR_RETURN(kept, store.LookupKept(key, kSharedPool));
    }
    for (const KeptRow& row : kept) *it.add_kept() = ReportKept(row);
  }
  return report;
}

}  // namespace meshwright::store
