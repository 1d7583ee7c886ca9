#include "profiledb/tables/profile_tables.h"

#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "profiledb/store/summary.h"
#include "profiledb/tables/stored_row.h"

namespace meshwright::tables {
namespace {

// Rows that a visit holds in memory at a time.
constexpr int kPageRows = 500;

// In the order of kProfileSql, then those that depend on the database.
enum ProfileStatement {
  kFind,
  kFindKept,
  kUpsert,
  kRemoveKept,
  kInsertKept,
  kRemove,
  kRemoveCrashedKept,
  kRemoveCrashed,
  kTeams,
  kCountOutcomes,
  kCountQuality,
  kPage,
  kTouch,
  kFindMany,
};

// Of one statement that touches rows: fewer than every SQLite takes parameters.
constexpr int kTouchedRows = 250;

constexpr const char* kProfileSql[] = {
    "SELECT id, outcome, quality, result, checksum, last_used_day "
    "FROM profiles WHERE namespace = ?1 AND key = ?2",

    "SELECT recorded_unix_ns, quality, host, worker, device_id, machine, "
    "result, checksum FROM measurements WHERE profile = ?1 ORDER BY number",

    "INSERT INTO profiles (namespace, key, outcome, quality, result, checksum, "
    "last_used_day) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
    "ON CONFLICT (namespace, key) DO UPDATE SET outcome = excluded.outcome, "
    "quality = excluded.quality, result = excluded.result, "
    "checksum = excluded.checksum, last_used_day = excluded.last_used_day "
    "RETURNING id",

    "DELETE FROM measurements WHERE profile = ?1",

    "INSERT INTO measurements (profile, number, recorded_unix_ns, quality, "
    "host, worker, device_id, machine, result, checksum) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",

    "DELETE FROM profiles WHERE id = ?1",

    // The only index begins with the namespace. 5 is CRASHED.
    "DELETE FROM measurements WHERE profile IN (SELECT id FROM profiles "
    "WHERE namespace IN (SELECT DISTINCT namespace FROM profiles) "
    "AND key = ?1 AND outcome = 5)",

    "DELETE FROM profiles WHERE namespace IN (SELECT DISTINCT namespace "
    "FROM profiles) AND key = ?1 AND outcome = 5",

    "SELECT DISTINCT namespace FROM profiles ORDER BY namespace",

    "SELECT outcome, COUNT(*) FROM profiles GROUP BY outcome",

    // Not grouped by the quality: SQLite would sort the summaries.
    "SELECT COUNT(*), CAST(SUM(LENGTH(result)) AS BIGINT) FROM profiles "
    "WHERE outcome = ?1 AND quality = ?2",
};

constexpr char kPageSql[] =
    "SELECT p.id, p.outcome, p.quality, p.result, p.checksum, "
    "p.last_used_day, p.namespace, p.key, m.recorded_unix_ns, m.host, "
    "m.worker, m.device_id, m.machine, (SELECT LENGTH(hlo_zstd) FROM programs "
    "WHERE programs.key = ";
constexpr char kPageSqlEnd[] =
    ") FROM profiles p LEFT JOIN measurements m "
    "ON m.profile = p.id AND m.result IS NULL "
    "WHERE (p.namespace, p.key) > (?1, ?2) ORDER BY p.namespace, p.key "
    "LIMIT ?3";

constexpr char kFindManySql[] =
    "SELECT id, outcome, quality, result, checksum, last_used_day, key "
    "FROM profiles WHERE namespace = ?1 AND key = ANY (?2)";

// 2100. It depends on no clock: one that is behind would take all rows for rows
// of the future.
constexpr store::Nanoseconds kNoClockShows{std::chrono::days(47'482)};

// ?1 is the day, the others are ids; one that is not bound is no row's.
std::string MakeTouchSql() {
  std::string sql = "UPDATE profiles SET last_used_day = ?1 WHERE id IN (?2";
  for (int i = 1; i < kTouchedRows; ++i) absl::StrAppend(&sql, ", ?", i + 2);
  return sql + ")";
}

bool IsQuality(int64_t number) {
  return number >= v1::Quality_MIN && number <= v1::Quality_MAX &&
         v1::Quality_IsValid(static_cast<int>(number));
}

int64_t SummaryChecksum(std::string_view team, std::string_view key_bytes,
                        int64_t outcome, int64_t quality,
                        std::string_view result) {
  return Checksum()
      .Add(team)
      .Add(key_bytes)
      .Add(outcome)
      .Add(quality)
      .Add(result)
      .value();
}

int64_t KeptChecksum(int64_t profile, int64_t quality,
                     const store::Origin& origin, std::string_view result) {
  return Checksum()
      .Add(profile)
      .Add(ToUnixNs(origin.recorded))
      .Add(quality)
      .Add(origin.host)
      .Add(origin.worker)
      .Add(origin.device_id)
      .Add(origin.machine)
      .Add(result)
      .value();
}

// The columns of kFind, which are the first ones of kFindMany and kPage.
StoredProfile ReadProfile(const Statement& row, std::string team,
                          std::string key, std::string_view key_bytes) {
  StoredProfile profile;
  profile.id = row.Integer(0);
  profile.last_used_day = row.Integer(5);
  const int64_t outcome = row.Integer(1);
  const std::string_view bytes = row.View(3);
  profile.bytes = static_cast<int64_t>(bytes.size());
  if (row.Integer(4) !=
      SummaryChecksum(team, key_bytes, outcome, row.Integer(2), bytes)) {
    profile.damage = "its checksum differs";
  } else {
    profile.damage = ParseResult(bytes, key, outcome, profile.result);
  }
  profile.team = std::move(team);
  profile.key = std::move(key);
  return profile;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProfileTables>> ProfileTables::Open(
    Database& database) {
  std::vector<std::string> sql(std::begin(kProfileSql), std::end(kProfileSql));
  sql.push_back(
      absl::StrCat(kPageSql, database.FormatHexSql("p.key"), kPageSqlEnd));
  sql.push_back(MakeTouchSql());
  if (database.HasArrays()) sql.push_back(kFindManySql);
  std::vector<std::unique_ptr<Statement>> statements;
  for (const std::string& text : sql) {
    ASSIGN_OR_RETURN(std::unique_ptr<Statement> statement,
                     database.Prepare(text));
    statements.push_back(std::move(statement));
  }
  return std::unique_ptr<ProfileTables>(
      new ProfileTables(std::move(statements), database.HasArrays()));
}

absl::StatusOr<std::optional<StoredProfile>> ProfileTables::Find(
    const std::string& team, const std::string& key) {
  const std::string key_bytes = KeyToBytes(key);
  Statement& find = *statements_[kFind];
  const StatementUse use(find);
  find.BindText(1, team);
  find.BindBlob(2, key_bytes);
  ASSIGN_OR_RETURN(const bool has_row, find.Step());
  if (!has_row) return std::nullopt;
  return ReadProfile(find, team, key, key_bytes);
}

absl::Status ProfileTables::FindMany(
    const std::string& team, absl::Span<const std::string> keys,
    const std::function<void(StoredProfile)>& visit) {
  if (!has_arrays_) {
    for (const std::string& key : keys) {
      ASSIGN_OR_RETURN(std::optional<StoredProfile> row, Find(team, key));
      if (row.has_value()) visit(*std::move(row));
    }
    return {};
  }
  std::vector<std::string> blobs;
  blobs.reserve(keys.size());
  for (const std::string& key : keys) blobs.push_back(KeyToBytes(key));
  Statement& find = *statements_[kFindMany];
  const StatementUse use(find);
  find.BindText(1, team);
  find.BindBlobs(2, blobs);
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, find.Step());
    if (!has_row) return {};
    const std::string_view key_bytes = find.View(6);
    visit(ReadProfile(find, team, BytesToKey(key_bytes), key_bytes));
  }
}

absl::StatusOr<ProfileTables::Kept> ProfileTables::ReadKept(
    const StoredProfile& profile) {
  Statement& find = *statements_[kFindKept];
  const StatementUse use(find);
  find.BindInteger(1, profile.id);
  Kept kept;
  bool has_chosen = !profile.damage.empty();
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, find.Step());
    if (!has_row) break;
    const bool is_chosen = find.IsNull(6);
    for (const int column : {2, 3, 4, 5, 6}) {
      kept.bytes += static_cast<int64_t>(find.View(column).size());
    }
    if (is_chosen && !profile.damage.empty()) continue;
    store::KeptRow row;
    row.origin = {.team = profile.team,
                  .host = find.Bytes(2),
                  .worker = find.Bytes(3),
                  .device_id = find.Bytes(4),
                  .machine = find.Bytes(5),
                  .recorded = FromUnixNs(find.Integer(0))};
    const int64_t quality = find.Integer(1);
    const std::string_view bytes = find.View(6);
    if (find.Integer(7) !=
            KeptChecksum(profile.id, quality, row.origin, bytes) ||
        row.origin.recorded >= kNoClockShows || !IsQuality(quality)) {
      ++kept.damaged;
      continue;
    }
    if (is_chosen) {
      has_chosen = true;
      row.result = profile.result;
    } else if (!ParseResult(bytes, profile.key, v1::MEASURED, row.result)
                    .empty()) {
      ++kept.damaged;
      continue;
    }
    if (row.result.has_measurement()) {
      v1::Measurement& measurement = *row.result.mutable_measurement();
      measurement.set_quality(static_cast<v1::Quality>(quality));
      store::ClearSummary(measurement);
    }
    kept.rows.push_back(std::move(row));
  }
  // Nobody writes more.
  constexpr size_t kMost = store::kMaximumKept;
  if (kept.rows.size() > kMost) {
    kept.damaged += static_cast<int>(kept.rows.size() - kMost);
    kept.rows.erase(kept.rows.begin() + kMost, kept.rows.end());
  }
  if (!has_chosen) {
    // Its origin is damaged, its times are not.
    kept.rows.push_back({profile.result, {.team = profile.team}});
  }
  return kept;
}

absl::Status ProfileTables::Write(const std::string& team,
                                  const std::string& key,
                                  absl::Span<const store::KeptRow> kept,
                                  int64_t day) {
  const store::Answer answer = store::MakeAnswer(kept);
  ASSIGN_OR_RETURN(const int64_t id,
                   WriteSummary(team, key, answer.result, day));
  {
    Statement& remove = *statements_[kRemoveKept];
    const StatementUse use(remove);
    remove.BindInteger(1, id);
    RETURN_IF_ERROR(remove.Run());
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    RETURN_IF_ERROR(
        WriteKept(id, static_cast<int64_t>(i), kept[i], i == answer.chosen));
  }
  return {};
}

absl::StatusOr<int64_t> ProfileTables::WriteSummary(
    const std::string& team, const std::string& key,
    const v1::ProfileResult& result, int64_t day) {
  const std::string key_bytes = KeyToBytes(key);
  const std::string bytes = SerializeResult(result);
  const int64_t quality = result.measurement().quality();
  Statement& upsert = *statements_[kUpsert];
  const StatementUse use(upsert);
  upsert.BindText(1, team);
  upsert.BindBlob(2, key_bytes);
  upsert.BindInteger(3, result.outcome());
  upsert.BindInteger(4, quality);
  upsert.BindBlob(5, bytes);
  upsert.BindInteger(
      6, SummaryChecksum(team, key_bytes, result.outcome(), quality, bytes));
  upsert.BindInteger(7, day);
  ASSIGN_OR_RETURN(const bool has_row, upsert.Step());
  if (!has_row) return absl::InternalError("a row was not written");
  const int64_t id = upsert.Integer(0);
  RETURN_IF_ERROR(upsert.Run());
  return id;
}

absl::Status ProfileTables::WriteKept(int64_t id, int64_t number,
                                      const store::KeptRow& row,
                                      bool is_chosen) {
  const store::Origin& origin = row.origin;
  const int64_t quality = row.result.measurement().quality();
  const std::string bytes = is_chosen ? "" : SerializeResult(row.result);
  Statement& insert = *statements_[kInsertKept];
  const StatementUse use(insert);
  insert.BindInteger(1, id);
  insert.BindInteger(2, number);
  insert.BindInteger(3, ToUnixNs(origin.recorded));
  insert.BindInteger(4, quality);
  insert.BindText(5, origin.host);
  insert.BindText(6, origin.worker);
  insert.BindText(7, origin.device_id);
  insert.BindText(8, origin.machine);
  if (!is_chosen) insert.BindBlob(9, bytes);
  insert.BindInteger(10, KeptChecksum(id, quality, origin, bytes));
  return insert.Run();
}

absl::Status ProfileTables::Remove(int64_t id) {
  for (const ProfileStatement it : {kRemoveKept, kRemove}) {
    Statement& remove = *statements_[it];
    const StatementUse use(remove);
    remove.BindInteger(1, id);
    RETURN_IF_ERROR(remove.Run());
  }
  return {};
}

absl::Status ProfileTables::RemoveCrashed(const std::string& key) {
  const std::string key_bytes = KeyToBytes(key);
  for (const ProfileStatement it : {kRemoveCrashedKept, kRemoveCrashed}) {
    Statement& remove = *statements_[it];
    const StatementUse use(remove);
    remove.BindBlob(1, key_bytes);
    RETURN_IF_ERROR(remove.Run());
  }
  return {};
}

absl::Status ProfileTables::Touch(const absl::flat_hash_set<int64_t>& ids,
                                  int64_t day) {
  Statement& touch = *statements_[kTouch];
  for (auto it = ids.begin(); it != ids.end();) {
    const StatementUse use(touch);
    touch.BindInteger(1, day);
    for (int i = 0; i < kTouchedRows && it != ids.end(); ++i, ++it) {
      touch.BindInteger(i + 2, *it);
    }
    RETURN_IF_ERROR(touch.Run());
  }
  return {};
}

absl::StatusOr<std::vector<std::string>> ProfileTables::ListTeams() {
  Statement& teams = *statements_[kTeams];
  const StatementUse use(teams);
  std::vector<std::string> listed;
  RETURN_IF_ERROR(ForEachRow(teams, [&] {
    listed.push_back(teams.Bytes(0));
    return absl::OkStatus();
  }));
  return listed;
}

absl::Status ProfileTables::Count(store::Statistics& statistics) {
  {
    Statement& outcomes = *statements_[kCountOutcomes];
    const StatementUse use(outcomes);
    RETURN_IF_ERROR(ForEachRow(outcomes, [&] {
      statistics.profiles[static_cast<v1::Outcome>(outcomes.Integer(0))] =
          outcomes.Integer(1);
      return absl::OkStatus();
    }));
  }
  for (int i = v1::Quality_MIN; i <= v1::Quality_MAX; ++i) {
    Statement& measured = *statements_[kCountQuality];
    const StatementUse use(measured);
    measured.BindInteger(1, v1::MEASURED);
    measured.BindInteger(2, i);
    ASSIGN_OR_RETURN(const bool has_row, measured.Step());
    if (!has_row || measured.Integer(0) == 0) continue;
    statistics.measured[static_cast<v1::Quality>(i)] = {
        .rows = measured.Integer(0), .bytes = measured.Integer(1)};
  }
  return absl::OkStatus();
}

absl::Status ProfileTables::ForEach(const Visit& visit) {
  std::string team;
  std::string key_bytes;
  while (true) {
    const std::string after_team = team;
    const std::string after_key = key_bytes;
    Statement& page = *statements_[kPage];
    const StatementUse use(page);
    page.BindText(1, after_team);
    page.BindBlob(2, after_key);
    page.BindInteger(3, kPageRows);
    int rows = 0;
    while (true) {
      ASSIGN_OR_RETURN(const bool has_row, page.Step());
      if (!has_row) break;
      ++rows;
      team = page.Bytes(6);
      key_bytes = page.Bytes(7);
      StoredProfile profile =
          ReadProfile(page, team, BytesToKey(key_bytes), key_bytes);
      profile.bytes += page.Integer(13);
      const store::Origin origin{.team = team,
                                 .host = page.Bytes(9),
                                 .worker = page.Bytes(10),
                                 .device_id = page.Bytes(11),
                                 .machine = page.Bytes(12),
                                 .recorded = FromUnixNs(page.Integer(8))};
      ASSIGN_OR_RETURN(const bool goes_on, visit(profile, origin));
      if (!goes_on) return {};
    }
    if (rows < kPageRows) return {};
  }
}

}  // namespace meshwright::tables
