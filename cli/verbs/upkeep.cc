// profiles export|import|gc|verify, and store audit|backup|migrate.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/partial_file.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/store_address.h"
#include "cli/local/store.h"
#include "cli/text/format.h"
#include "cli/text/json.h"
#include "cli/text/table.h"
#include "cli/text/tame.h"
#include "cli/verbs/verbs.h"
#include "coordinator/client/planning_client.h"
#include "profiledb/store/check_row.h"
#include "profiledb/upkeep/backup.h"
#include "profiledb/upkeep/clean_store.h"
#include "profiledb/upkeep/copy_store.h"
#include "profiledb/upkeep/exchange.h"
#include "profiledb/upkeep/measurement_file.h"
#include "profiledb/upkeep/store_reports.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::cli {
namespace {

struct ExchangeFlags {
  std::string file;
  std::string team;
  StoreAddress address;
};

struct GarbageFlags {
  std::optional<int64_t> age_days;
  std::optional<int64_t> unused_days;
  std::optional<int64_t> plan_days;
  std::string bytes;
  std::string keep;
  bool dry_run = false;
  StoreAddress address;
};

struct VerifyFlags {
  StoreAddress address;
};

struct BackupFlags {
  std::string file;
  StoreAddress address;
};

struct AuditFlags {
  int limit = 100;
  std::string store;
};

struct MigrateFlags {
  std::string from;
  std::string to;
};

store::Nanoseconds Now(const Context& context) {
  return store::Nanoseconds(
      std::chrono::nanoseconds(absl::ToUnixNanos(context.clock->Now())));
}

template <typename Report>
void Show(const Context& context, const Report& report,
          const std::string& text) {
  *context.out << (context.json ? ToJson(report).dump(2) + "\n" : text);
}

// ---- export, import

constexpr size_t kPieceBytes = size_t{1} << 20;

absl::StatusOr<v1::ExportReport> ExportFromCoordinator(
    const ExchangeFlags& flags) {
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  ASSIGN_OR_RETURN(base::PartialFile file,
                   base::PartialFile::Create(flags.file));
  ASSIGN_OR_RETURN(v1::ExportReport report, client->ExportProfiles(
                                                flags.team,
                                                [&](const std::string& bytes) {
                                                  return file.Write(bytes);
                                                },
                                                interrupt.token()));
  RETURN_IF_ERROR(file.Sync());
  if (file.HasSibling()) {  // what a device got cannot be read again
    RETURN_IF_ERROR(store::MeasurementFileReader::Open(file.place()).status());
  }
  RETURN_IF_ERROR(file.Commit());
  report.set_file(flags.file);
  return report;
}

absl::StatusOr<v1::ImportReport> ImportToCoordinator(
    const ExchangeFlags& flags) {
  const base::Interrupt interrupt;
  // A file that is damaged is not sent.
  RETURN_IF_ERROR(store::MeasurementFileReader::Open(flags.file).status());
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  std::ifstream in(flags.file, std::ios::binary);
  ASSIGN_OR_RETURN(v1::ImportReport report,
                   client->ImportProfiles(
                       flags.team,
                       [&]() -> absl::StatusOr<std::string> {
                         std::string piece(kPieceBytes, '\0');
                         in.read(piece.data(), kPieceBytes);
                         if (in.bad()) {
                           return absl::UnknownError(
                               absl::StrCat("cannot read ", flags.file));
                         }
                         piece.resize(static_cast<size_t>(in.gcount()));
                         return piece;
                       },
                       interrupt.token()));
  report.set_file(flags.file);
  return report;
}

absl::StatusOr<v1::ExportReport> ExportFromStore(const ExchangeFlags& flags) {
  ASSIGN_OR_RETURN(const auto store, OpenExistingStore(flags.address.store));
  return store::ExportMeasurements(*store, flags.team, flags.file);
}

absl::StatusOr<v1::ImportReport> ImportToStore(const Context& context,
                                               const ExchangeFlags& flags) {
  ASSIGN_OR_RETURN(const auto store, OpenStore(flags.address.store));
  return store::ImportMeasurements(*store, flags.team, Now(context),
                                   flags.file);
}

absl::Status ExportRows(const Context& context, const ExchangeFlags& flags) {
  ASSIGN_OR_RETURN(const v1::ExportReport report,
                   flags.address.coordinator.empty()
                       ? ExportFromStore(flags)
                       : ExportFromCoordinator(flags));
  Show(context, report,
       absl::StrCat("exported ", report.measurements(), " measurements of ",
                    report.rows(), " rows to ", report.file(), "\n"));
  return absl::OkStatus();
}

absl::Status ImportRows(const Context& context, const ExchangeFlags& flags) {
  ASSIGN_OR_RETURN(const v1::ImportReport report,
                   flags.address.coordinator.empty()
                       ? ImportToStore(context, flags)
                       : ImportToCoordinator(flags));
  std::string text = absl::StrCat("imported ", report.recorded(), " of ",
                                  report.measurements(), " measurements of ",
                                  report.file(), "\n");
  const int64_t left =
      report.measurements() - report.recorded() - report.refused();
  if (left > 0) {
    absl::StrAppend(&text, left,
                    " stay out, since their rows keep newer or better ones\n");
  }
  for (const v1::LeftRow& row : report.refused_rows()) {
    absl::StrAppend(&text, Tame(row.reason()), "\n");
  }
  Show(context, report, text);
  if (report.refused() == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      report.refused(), " measurements of ", report.file(),
      " are refused, the first being: ", report.refused_rows(0).reason()));
}

// ---- gc

// One key a line; an empty line and one that begins with # say nothing.
absl::Status ReadKeys(const std::string& path, v1::GcLimits& limits) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::string_view key = absl::StripAsciiWhitespace(line);
    if (key.empty() || key.front() == '#') continue;
    if (!store::IsKey({key.data(), key.size()})) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, " of ", path,
                       " is not a key of 64 lower-case hex digits"));
    }
    limits.add_keep(std::string(key));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::GcLimits> MakeLimits(const GarbageFlags& flags) {
  v1::GcLimits limits;
  if (flags.age_days) limits.set_max_age_days(*flags.age_days);
  if (flags.unused_days) limits.set_max_unused_days(*flags.unused_days);
  if (flags.plan_days) limits.set_max_plan_days(*flags.plan_days);
  if (!flags.bytes.empty()) {
    ASSIGN_OR_RETURN(const int64_t bytes, ParseBytes(flags.bytes));
    limits.set_max_bytes(bytes);
  }
  if (!flags.keep.empty()) RETURN_IF_ERROR(ReadKeys(flags.keep, limits));
  limits.set_dry_run(flags.dry_run);
  return limits;
}

absl::StatusOr<v1::GcReport> Clean(const Context& context,
                                   const StoreAddress& address,
                                   const v1::GcLimits& limits) {
  if (!address.coordinator.empty()) {
    ASSIGN_OR_RETURN(const auto client, ConnectTo(address));
    return client->CollectGarbage(limits);
  }
  ASSIGN_OR_RETURN(const auto store, OpenExistingStore(address.store));
  ASSIGN_OR_RETURN(const auto plans, OpenPlans(address.store));
  return store::CleanStore(*store, *plans, limits, Now(context));
}

absl::Status CollectGarbage(const Context& context, const GarbageFlags& flags) {
  ASSIGN_OR_RETURN(const v1::GcLimits limits, MakeLimits(flags));
  ASSIGN_OR_RETURN(const v1::GcReport report,
                   Clean(context, flags.address, limits));
  const std::string of_plans =
      flags.plan_days.has_value()
          ? absl::StrCat(report.plans(), " plans with ", report.models(),
                         " models, ", report.plans_left(), " plans are left; ")
          : "";
  const std::string of_modules =
      report.modules() > 0 ? absl::StrCat(report.modules(), " modules of ",
                                          FormatBytes(report.module_bytes()),
                                          " that nobody names, ")
                           : "";
  Show(context, report,
       absl::StrCat(report.dry_run() ? "would remove " : "removed ", of_plans,
                    of_modules, report.rows(), " rows of ",
                    FormatBytes(report.bytes()), "; ", report.rows_left(),
                    " rows of ", FormatBytes(report.bytes_left()),
                    " are left, ", report.kept(),
                    " of them because plans need them or they are named\n"));
  return absl::OkStatus();
}

// ---- verify

absl::StatusOr<v1::VerifyReport> FindDamage(const StoreAddress& address) {
  if (!address.coordinator.empty()) {
    ASSIGN_OR_RETURN(const auto client, ConnectTo(address));
    return client->VerifyStore();
  }
  ASSIGN_OR_RETURN(const auto store, OpenExistingStore(address.store));
  ASSIGN_OR_RETURN(const auto plans, OpenPlans(address.store));
  return store::ReportDamage(*store, *plans);
}

absl::Status VerifyStore(const Context& context, const VerifyFlags& flags) {
  ASSIGN_OR_RETURN(const v1::VerifyReport report, FindDamage(flags.address));
  std::vector<TableRow> rows;
  for (const v1::DamagedEntry& row : report.damaged()) {
    rows.push_back({row.key(), row.team().empty() ? "(program)" : row.team(),
                    row.damage()});
  }
  Show(context, report,
       rows.empty() ? "no row is damaged\n"
                    : FormatTable({{"key", Align::kLeft},
                                   {"namespace", Align::kLeft},
                                   {"damage", Align::kLeft}},
                                  rows));
  if (rows.empty()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(rows.size(),
                   " damaged rows were set aside; a plan that needs one "
                   "measures it again, and a damaged plan is submitted again"));
}

// ---- backup, migrate

// While it lives, new files are for this user alone.
class PrivateFiles {
 public:
  PrivateFiles() : before_(umask(0077)) {}
  ~PrivateFiles() { umask(before_); }
  PrivateFiles(const PrivateFiles&) = delete;
  PrivateFiles& operator=(const PrivateFiles&) = delete;

 private:
  const mode_t before_;
};

absl::StatusOr<v1::BackupReport> BackUpOfCoordinator(const BackupFlags& flags) {
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  std::error_code error;
  if (std::filesystem::exists(flags.file, error)) {
    return absl::AlreadyExistsError(
        absl::StrCat(flags.file, " is there already; name a new file"));
  }
  ASSIGN_OR_RETURN(base::PartialFile file,
                   base::PartialFile::Create(flags.file));
  ASSIGN_OR_RETURN(v1::BackupReport report, client->BackUpStore(
                                                [&](const std::string& bytes) {
                                                  return file.Write(bytes);
                                                },
                                                interrupt.token()));
  RETURN_IF_ERROR(file.Sync());
  RETURN_IF_ERROR(file.Commit());
  report.set_file(flags.file);
  return report;
}

absl::StatusOr<v1::BackupReport> BackUpHere(const BackupFlags& flags) {
  ASSIGN_OR_RETURN(const std::string path, FindStorePath(flags.address.store));
  return store::BackUpStore(path, flags.file);
}

absl::Status BackUp(const Context& context, const BackupFlags& flags) {
  const PrivateFiles files;  // it has the models and plans of all teams
  ASSIGN_OR_RETURN(const v1::BackupReport report,
                   flags.address.coordinator.empty()
                       ? BackUpHere(flags)
                       : BackUpOfCoordinator(flags));
  Show(context, report,
       absl::StrCat("copied ", report.store(), " to ", report.file(), ", ",
                    FormatBytes(report.bytes()), "\n"));
  return absl::OkStatus();
}

absl::Status Migrate(const Context& context, const MigrateFlags& flags) {
  if (flags.from == flags.to) {
    return absl::InvalidArgumentError(absl::StrCat(
        "both stores are ", DescribeStorePath(flags.from), "; name another"));
  }
  ASSIGN_OR_RETURN(const auto from, OpenExistingStore(flags.from));
  ASSIGN_OR_RETURN(const auto to, OpenStore(flags.to));
  ASSIGN_OR_RETURN(const auto from_plans, OpenPlans(flags.from));
  ASSIGN_OR_RETURN(const auto to_plans, OpenPlans(flags.to));
  ASSIGN_OR_RETURN(v1::MigrateReport report,
                   store::CopyWholeStore({from.get(), from_plans.get()},
                                         {to.get(), to_plans.get()}));
  report.set_from(DescribeStorePath(flags.from));
  report.set_to(DescribeStorePath(flags.to));
  std::string text = absl::StrCat(
      "copied ", report.rows(), " rows with ", report.measurements(),
      " measurements, ", report.programs(), " programs, ", report.quarantined(),
      " entries of the quarantine and ", report.plans(), " plans from ",
      report.from(), " to ", report.to(), "\n");
  if (report.left() > 0) {
    absl::StrAppend(&text, report.left(),
                    " rows and plans are left, the first of them:\n");
  }
  for (const v1::LeftRow& row : report.left_rows()) {
    absl::StrAppend(&text, Tame(row.reason()), "\n");
  }
  Show(context, report, text);
  return absl::OkStatus();
}

// ---- audit

nlohmann::ordered_json AuditJson(const store::AuditRow& row) {
  nlohmann::ordered_json json;
  json["number"] = row.number;
  json["time"] =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", row.when, absl::UTCTimeZone());
  json["coordinator"] = row.coordinator;
  json["who"] = row.who;
  json["peer"] = row.peer;
  json["what"] = row.what;
  json["object"] = row.object;
  json["outcome"] = row.outcome;
  json["reason"] = row.reason;
  json["left_out"] = row.left_out;
  return json;
}

absl::Status ListAudit(const Context& context, const AuditFlags& flags) {
  ASSIGN_OR_RETURN(const std::string path, FindStorePath(flags.store));
  RETURN_IF_ERROR(store::CheckStoreExists(path));
  ASSIGN_OR_RETURN(const auto plans, OpenPlans(path));
  ASSIGN_OR_RETURN(const std::vector<store::AuditRow> found,
                   plans->ReadNewestAudit(flags.limit));
  nlohmann::ordered_json json;
  json["entries"] = nlohmann::ordered_json::array();
  std::vector<TableRow> rows;
  for (const store::AuditRow& row : found) {
    json["entries"].push_back(AuditJson(row));
    rows.push_back(
        {absl::FormatTime("%Y-%m-%d %H:%M:%S", row.when, absl::UTCTimeZone()),
         row.coordinator, row.who.empty() ? row.peer : row.who,
         row.what.substr(row.what.rfind('/') + 1), row.object,
         row.reason.empty() ? row.outcome
                            : absl::StrCat(row.outcome, ": ", row.reason)});
  }
  if (context.json) {
    *context.out << json.dump(2) << "\n";
    return absl::OkStatus();
  }
  *context.out << (rows.empty() ? "nothing was done or refused so far\n"
                                : FormatTable({{"time (UTC)", Align::kLeft},
                                               {"coordinator", Align::kLeft},
                                               {"who", Align::kLeft},
                                               {"what", Align::kLeft},
                                               {"object", Align::kLeft},
                                               {"outcome", Align::kLeft}},
                                              rows));
  return absl::OkStatus();
}

}  // namespace

void AddUpkeepVerbs(CLI::App& profiles, Context& context) {
  const auto [exported, export_flags] =
      AddVerb(profiles, context, "export",
              "write all measurements to one file, never programs", ExportRows);
  exported->add_option("file", export_flags->file, "the file to write")
      ->required();
  exported->add_option("--team", export_flags->team,
                       "only the rows of this namespace");
  AddStoreAddress(*exported, &export_flags->address);

  const auto [imported, import_flags] = AddVerb(
      profiles, context, "import",
      "record the measurements of a file that export wrote", ImportRows);
  imported->add_option("file", import_flags->file, "the file to read")
      ->required();
  imported->add_option("--team", import_flags->team,
                       "record them in this namespace, not in their own");
  AddStoreAddress(*imported, &import_flags->address);

  const auto [gc, gc_flags] =
      AddVerb(profiles, context, "gc",
              "remove rows that are old, unused or too many", CollectGarbage);
  gc->add_option("--max-age-days", gc_flags->age_days,
                 "remove rows whose newest measurement is older")
      ->check(CLI::NonNegativeNumber);
  gc->add_option("--max-unused-days", gc_flags->unused_days,
                 "remove rows that no plan asked for in so many days")
      ->check(CLI::NonNegativeNumber);
  gc->add_option("--max-plan-days", gc_flags->plan_days,
                 "remove plans that ended longer ago, and their models")
      ->check(CLI::NonNegativeNumber);
  gc->add_option("--max-size", gc_flags->bytes,
                 "remove rows, the longest unused first, until rows and their "
                 "programs have at most so many bytes (such as 2GiB)");
  gc->add_option("--keep", gc_flags->keep,
                 "a file of keys, one a line, that are never removed");
  gc->add_flag("--dry-run", gc_flags->dry_run, "only say what would go");
  AddStoreAddress(*gc, &gc_flags->address);

  const auto [verify, verify_flags] = AddVerb(
      profiles, context, "verify",
      "read every row, and name and set aside the damaged ones", VerifyStore);
  AddStoreAddress(*verify, &verify_flags->address);
}

void AddStoreVerb(CLI::App& app, Context& context) {
  CLI::App* const parent =
      app.add_subcommand("store",
                         "copy a whole profile store, or read its "
                         "audit log");
  parent->require_subcommand(0, 1);
  const auto [audit, audit_flags] =
      AddVerb(*parent, context, "audit",
              "list what was done and refused, by all coordinators of a store",
              ListAudit);
  audit->add_option("--limit", audit_flags->limit, "the newest so many entries")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  AddStoreFlag(*audit, audit_flags->store);

  const auto [backup, backup_flags] =
      AddVerb(*parent, context, "backup",
              "copy a store to a new file, while it is in use", BackUp);
  backup->add_option("file", backup_flags->file, "the file to write")
      ->required();
  AddStoreAddress(*backup, &backup_flags->address);

  const auto [migrate, migrate_flags] =
      AddVerb(*parent, context, "migrate",
              "copy a store into another, of SQLite or PostgreSQL", Migrate);
  migrate
      ->add_option("from", migrate_flags->from,
                   "a file or postgres://USER@HOST/DATABASE")
      ->required();
  migrate
      ->add_option("to", migrate_flags->to,
                   "the same; made if it is a file that is not there")
      ->required();
}

}  // namespace meshwright::cli
