#include "profiledb/upkeep/exchange.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "profiledb/store/check_row.h"
#include "profiledb/store/precedence.h"
#include "profiledb/upkeep/measurement_file.h"

namespace meshwright::store {
namespace {

constexpr size_t kEntriesPerCommit = 500;
constexpr int kMaximumListed = 100;

v1::ExportedMeasurement ToExported(const KeptRow& kept) {
  v1::ExportedMeasurement exported;
  exported.set_team(kept.origin.team);
  exported.set_host(kept.origin.host);
  exported.set_worker(kept.origin.worker);
  exported.set_device_id(kept.origin.device_id);
  exported.set_machine(kept.origin.machine);
  exported.set_recorded_unix_ns(
      kept.origin.recorded.time_since_epoch().count());
  *exported.mutable_result() = kept.result;
  exported.mutable_result()->clear_log();
  return exported;
}

Entry ToEntry(v1::ExportedMeasurement exported, const std::string& team) {
  return {.result = std::move(*exported.mutable_result()),
          .origin = {.team = team.empty() ? exported.team() : team,
                     .host = exported.host(),
                     .worker = exported.worker(),
                     .device_id = exported.device_id(),
                     .machine = exported.machine(),
                     .recorded = Nanoseconds(std::chrono::nanoseconds(
                         exported.recorded_unix_ns()))}};
}

// How many of them their rows keep now. Older ones than those of a full row do
// not stay, nor do failures of a program that was measured.
absl::StatusOr<int64_t> CountKept(ProfileStore& store,
                                  const std::vector<Entry>& entries) {
  // A look-up judges it anew.
  const auto without_quality = [](KeptRow row) {
    if (row.result.has_measurement()) {
      row.result.mutable_measurement()->clear_quality();
    }
    return row;
  };
  int64_t count = 0;
  for (const Entry& entry : entries) {
    ASSIGN_OR_RETURN(const std::vector<KeptRow> kept,
                     store.LookupKept(entry.result.key(), entry.origin.team));
    const KeptRow row = without_quality(MakeKept(entry.result, entry.origin));
    if (std::any_of(kept.begin(), kept.end(), [&](const KeptRow& it) {
          return IsSame(without_quality(it), row);
        })) {
      ++count;
    }
  }
  return count;
}

absl::Status CheckEntry(const Entry& entry, Nanoseconds now) {
  RETURN_IF_ERROR(CheckHandedIn(entry.result));
  RETURN_IF_ERROR(CheckOrigin(entry.result.key(), entry.origin));
  const Nanoseconds recorded = entry.origin.recorded;
  if (recorded >= Nanoseconds() && recorded <= now + std::chrono::days(1)) {
    return {};
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the profile of ", entry.result.key(),
                   " is refused: it says that it was recorded in the future, "
                   "or before 1970"));
}

}  // namespace

absl::StatusOr<v1::ExportReport> ExportMeasurements(ProfileStore& store,
                                                    const std::string& team,
                                                    const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, MeasurementFileWriter::Create(path));
  ASSIGN_OR_RETURN(v1::ExportReport report,
                   ExportMeasurements(store, team, *file));
  report.set_file(path);
  return report;
}

absl::StatusOr<v1::ExportReport> ExportMeasurements(
    ProfileStore& store, const std::string& team, MeasurementFileWriter& file) {
  v1::ExportReport report;
  const auto write = [&](const WholeRow& row) -> absl::Status {
    if (!team.empty() && row.team != team) return {};
    if (row.kept.front().result.outcome() == v1::PRUNED) return {};
    report.set_rows(report.rows() + 1);
    for (const KeptRow& kept : row.kept) {
      RETURN_IF_ERROR(file.Add(ToExported(kept)));
    }
    return {};
  };
  RETURN_IF_ERROR(store.ForEachWhole({.row = write}));
  report.set_measurements(file.measurements());
  RETURN_IF_ERROR(file.Finish());
  return report;
}

absl::StatusOr<v1::ImportReport> ImportMeasurements(ProfileStore& store,
                                                    const std::string& team,
                                                    Nanoseconds now,
                                                    const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, MeasurementFileReader::Open(path));
  ASSIGN_OR_RETURN(v1::ImportReport report,
                   ImportMeasurements(store, team, now, *file));
  report.set_file(path);
  return report;
}

absl::StatusOr<v1::ImportReport> ImportMeasurements(
    ProfileStore& store, const std::string& team, Nanoseconds now,
    MeasurementFileReader& file) {
  v1::ImportReport report;
  v1::ExportedMeasurement measurement;
  std::vector<Entry> entries;
  const auto record = [&]() -> absl::Status {
    RETURN_IF_ERROR(store.Record(entries));
    ASSIGN_OR_RETURN(const int64_t kept, CountKept(store, entries));
    report.set_recorded(report.recorded() + kept);
    entries.clear();
    return {};
  };
  while (true) {
    ASSIGN_OR_RETURN(const bool has_next, file.Next(measurement));
    if (!has_next) break;
    report.set_measurements(report.measurements() + 1);
    Entry entry = ToEntry(std::move(measurement), team);
    const absl::Status status = CheckEntry(entry, now);
    if (status.ok()) {
      entries.push_back(std::move(entry));
      if (entries.size() == kEntriesPerCommit) RETURN_IF_ERROR(record());
      continue;
    }
    report.set_refused(report.refused() + 1);
    if (report.refused_rows_size() == kMaximumListed) continue;
    v1::LeftRow& refused = *report.add_refused_rows();
    refused.set_key(entry.result.key());
    refused.set_reason(std::string(status.message()));
  }
  RETURN_IF_ERROR(record());
  return report;
}

}  // namespace meshwright::store
