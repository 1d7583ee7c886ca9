#include "profiledb/postgres/postgres_database.h"

#include <libpq-fe.h>
#include <poll.h>

#include <chrono>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "profiledb/postgres/await_result.h"
#include "profiledb/postgres/failures.h"

namespace meshwright::postgres {
namespace {

// Whoever waits behind a caller that met a silent server is not to wait as
// long, one after the other.
constexpr auto kSilence = std::chrono::seconds(2);

// The first number is MWpf in ASCII, as of a SQLite store. A process that is
// stopped within a write must not keep the lock from the others.
constexpr char kBeginWrite[] =
    "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '4s'; "
    "SELECT pg_advisory_xact_lock(1297576038, "
    "hashtext(current_schema()::text))";
constexpr char kBeginRead[] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

// A call that returned OK is durable, whatever the server's default. Nobody
// waits for ever for a lock. A URL may say otherwise of the latter.
constexpr char kSession[] =
    "SELECT set_config('synchronous_commit', 'on', false) WHERE "
    "current_setting('synchronous_commit') = 'off'; "
    "SELECT set_config('lock_timeout', '10s', false) WHERE "
    "current_setting('lock_timeout') = '0'";

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, ClearResult>;

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

bool IsDone(const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

// Network byte order.
void AppendInteger(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(value >> shift));
  }
}

// ?1 as $1; counts the parameters.
std::string Numbered(const std::string& sql, int& parameters) {
  std::string numbered = sql;
  parameters = 0;
  for (size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] != '?') continue;
    numbered[i] = '$';
    parameters = std::max(parameters, std::atoi(sql.c_str() + i + 1));
  }
  return numbered;
}

}  // namespace

absl::StatusOr<std::string> NameOfUrl(const std::string& url) {
  // Its own message may quote the password.
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> options(
      PQconninfoParse(url.c_str(), &message));
  PQfreemem(message);
  std::map<std::string, std::string> values;
  for (const PQconninfoOption* it = options.get();
       it != nullptr && it->keyword != nullptr; ++it) {
    if (it->val != nullptr) values[it->keyword] = it->val;
  }
  const bool has_port =
      values["port"].find_first_not_of("0123456789,") == std::string::npos;
  if (options == nullptr || !has_port) {
    return absl::InvalidArgumentError(
        "the store's URL is none of PostgreSQL: write "
        "postgres://USER@HOST:PORT/DATABASE, and a % in it as %25");
  }
  const std::string& host = values["host"];
  const bool is_socket = !host.empty() && host.front() == '/';
  std::string name = "postgres://";
  if (!values["user"].empty()) absl::StrAppend(&name, values["user"], "@");
  if (!is_socket) absl::StrAppend(&name, host);
  if (!values["port"].empty()) absl::StrAppend(&name, ":", values["port"]);
  absl::StrAppend(&name, "/", values["dbname"]);
  if (is_socket) absl::StrAppend(&name, "?host=", host);
  return name;
}

class PostgresStatement : public tables::Statement {
 public:
  PostgresStatement(PostgresDatabase* database, const std::string& sql,
                    PostgresDatabase::PreparedText* prepared)
      : database_(*database), prepared_(*prepared) {
    int parameters = 0;
    sql_ = Numbered(sql, parameters);
    parameters_.resize(parameters);
  }

  void BindText(int parameter, std::string_view text) override {
    parameters_[parameter - 1] = {.view = text, .is_binary = true};
  }
  void BindBlob(int parameter, std::string_view bytes) override {
    BindText(parameter, bytes);
  }
  void BindInteger(int parameter, int64_t value) override {
    parameters_[parameter - 1] = {.owned = absl::StrCat(value),
                                  .is_owned = true};
  }
  void BindBlobs(int parameter, absl::Span<const std::string> blobs) override {
    constexpr uint32_t kByteaOid = 17;
    std::string array;
    AppendInteger(array, blobs.empty() ? 0 : 1);  // dimensions
    AppendInteger(array, 0);                      // no NULLs
    AppendInteger(array, kByteaOid);
    if (!blobs.empty()) {
      AppendInteger(array, static_cast<uint32_t>(blobs.size()));
      AppendInteger(array, 1);  // the first one's number
    }
    for (const std::string& blob : blobs) {
      AppendInteger(array, static_cast<uint32_t>(blob.size()));
      array += blob;
    }
    parameters_[parameter - 1] = {
        .owned = std::move(array), .is_owned = true, .is_binary = true};
  }

  absl::StatusOr<bool> Step() override {
    if (result_ == nullptr) {
      RETURN_IF_ERROR(Run());
    } else {
      ++row_;
    }
    return row_ < PQntuples(result_.get());
  }

  int64_t Integer(int column) const override {
    int64_t value = 0;
    const std::string_view bytes = View(column);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const auto byte = static_cast<unsigned char>(bytes[i]);
      // The sign is in the first one.
      value = i == 0 ? static_cast<signed char>(byte) : value * 256 + byte;
    }
    return value;
  }
  std::string_view View(int column) const override {
    return {PQgetvalue(result_.get(), row_, column),
            static_cast<size_t>(PQgetlength(result_.get(), row_, column))};
  }
  bool IsNull(int column) const override {
    return PQgetisnull(result_.get(), row_, column) != 0;
  }

  void Reset() override {
    result_.reset();
    row_ = 0;
    for (Parameter& parameter : parameters_) parameter = {};
  }

 private:
  struct Parameter {
    std::string_view view;
    std::string owned;
    bool is_owned = false;
    bool is_binary = false;

    const char* data() const { return is_owned ? owned.data() : view.data(); }
    size_t size() const { return is_owned ? owned.size() : view.size(); }
  };

  absl::Status Run() {
    PGconn* const connection = database_.connection_.get();
    const char* const name = prepared_.name.c_str();
    if (prepared_.connection != database_.connections_) {
      RETURN_IF_ERROR(database_.Await(
          PQsendPrepare(connection, name, sql_.c_str(), 0, nullptr), nullptr));
      prepared_.connection = database_.connections_;
    }
    std::vector<const char*> values;
    std::vector<int> sizes;
    std::vector<int> formats;
    for (const Parameter& it : parameters_) {
      const bool is_null = it.data() == nullptr && !it.is_binary;
      values.push_back(is_null ? nullptr : it.size() == 0 ? "" : it.data());
      sizes.push_back(static_cast<int>(it.size()));
      formats.push_back(it.is_binary ? 1 : 0);
    }
    constexpr int kBinaryResult = 1;
    row_ = 0;
    pg_result* result = nullptr;
    RETURN_IF_ERROR(database_.Await(
        PQsendQueryPrepared(connection, name, static_cast<int>(values.size()),
                            values.data(), sizes.data(), formats.data(),
                            kBinaryResult),
        &result));
    result_.reset(result);
    return {};
  }

  PostgresDatabase& database_;
  PostgresDatabase::PreparedText& prepared_;
  std::string sql_;
  std::vector<Parameter> parameters_;
  Result result_;
  int row_ = 0;
};

void PostgresDatabase::Close::operator()(pg_conn* connection) const {
  PQfinish(connection);
}

absl::StatusOr<std::unique_ptr<PostgresDatabase>> PostgresDatabase::Open(
    const std::string& url, std::chrono::milliseconds patience) {
  ASSIGN_OR_RETURN(const std::string name, NameOfUrl(url));
  std::unique_ptr<PostgresDatabase> database(
      new PostgresDatabase(url, name, patience));
  RETURN_IF_ERROR(database->Connect());
  return database;
}

absl::Status PostgresDatabase::Connect() {
  connection_.reset();
  is_lost_ = true;
  // Settings of the URL come last and take precedence.
  const char* const keywords[] = {
      "client_encoding", "fallback_application_name",
      "keepalives_idle", "tcp_user_timeout",
      "dbname",          nullptr};
  const char* const values[] = {"UTF8",  "meshwright", "20",
                                "20000", url_.c_str(), nullptr};
  connection_.reset(PQconnectStartParams(keywords, values, 1));
  PGconn* const connection = connection_.get();
  if (connection == nullptr) {
    return absl::ResourceExhaustedError("no memory to open the store " + name_);
  }
  // Only verbose messages say the SQLSTATE of a connection that fails.
  PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
  PQsetNoticeProcessor(
      connection, [](void*, const char*) {}, nullptr);
  const auto deadline = std::chrono::steady_clock::now() + patience_;
  PostgresPollingStatusType next = PQstatus(connection) == CONNECTION_BAD
                                       ? PGRES_POLLING_FAILED
                                       : PGRES_POLLING_WRITING;
  while (next != PGRES_POLLING_OK) {
    if (next == PGRES_POLLING_FAILED) {
      std::string message = PQerrorMessage(connection);
      const std::string state = TakeState(message);
      if (state.empty() && PQconnectionNeedsPassword(connection) != 0) {
        return ToStatus(name_, "28P01", message);
      }
      return ToStatus(name_, state, message);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd waited{.fd = PQsocket(connection),
                  .events = static_cast<int16_t>(
                      next == PGRES_POLLING_READING ? POLLIN : POLLOUT)};
    if (left.count() <= 0 ||
        poll(&waited, 1, static_cast<int>(left.count())) == 0) {
      return LoseSilent();
    }
    next = PQconnectPoll(connection);
  }
  PQsetnonblocking(connection, 1);
  is_lost_ = false;
  ++connections_;
  return Execute(kSession);
}

absl::Status PostgresDatabase::LoseSilent() {
  connection_.reset();
  is_lost_ = true;
  silent_until_ = std::chrono::steady_clock::now() + kSilence;
  return MakeSilentError();
}

absl::Status PostgresDatabase::MakeSilentError() const {
  return ToStatus(
      name_, "",
      absl::StrCat("it does not answer for ",
                   absl::FormatDuration(absl::FromChrono(patience_))));
}

absl::Status PostgresDatabase::Await(int is_sent, pg_result** result) {
  const Awaited awaited =
      AwaitResult(connection_.get(), is_sent != 0, patience_);
  if (awaited.is_silent) return LoseSilent();
  Result last(awaited.result);
  if (!IsDone(last.get())) return Failure(last.get());
  if (result != nullptr) *result = last.release();
  return {};
}

absl::Status PostgresDatabase::Failure(const pg_result* result) {
  const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* const message =
      PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string_view code = state == nullptr ? "" : state;
  if (PQstatus(connection_.get()) == CONNECTION_BAD || EndsConnection(code)) {
    is_lost_ = true;
    return ToStatus(
        name_, "",
        message != nullptr ? message : PQerrorMessage(connection_.get()));
  }
  if (message != nullptr) return ToStatus(name_, code, message);
  // Of libpq itself, such as no memory for a result.
  return ToStatus(name_, "58000", PQerrorMessage(connection_.get()));
}

absl::Status PostgresDatabase::Execute(const std::string& sql) {
  pg_result* sent = nullptr;
  RETURN_IF_ERROR(Await(PQsendQuery(connection_.get(), sql.c_str()), &sent));
  const Result result(sent);
  // A transaction in which a statement failed is undone, and no error.
  if (sql != "COMMIT" || std::string_view(PQcmdStatus(sent)) == sql) return {};
  return absl::InternalError(absl::StrCat(
      "the store ", name_, " undid a transaction in which a statement failed"));
}

absl::StatusOr<std::unique_ptr<tables::Statement>> PostgresDatabase::Prepare(
    const std::string& sql) {
  const auto [prepared, is_new] = prepared_.try_emplace(sql);
  if (is_new) prepared->second.name = absl::StrCat("s", prepared_.size());
  return std::make_unique<PostgresStatement>(this, sql, &prepared->second);
}

std::string PostgresDatabase::FormatHexSql(const std::string& column) const {
  return absl::StrCat("encode(", column, ", 'hex')");
}

absl::Status PostgresDatabase::PassIds(const std::string& table) {
  const std::string sequence =
      absl::StrCat("pg_get_serial_sequence('", table, "', 'id')");
  // Never back: the newest rows may be gone, and their ids stay theirs. The
  // last value is NULL, which GREATEST leaves out, before the first one.
  return QueryInteger(
             absl::StrCat("SELECT setval(", sequence,
                          ", GREATEST(MAX(id), pg_sequence_last_value(",
                          sequence, "::regclass))) FROM ", table))
      .status();
}

absl::Status PostgresDatabase::Begin(tables::Access access) {
  const char* const begin =
      access == tables::Access::kWrite ? kBeginWrite : kBeginRead;
  if (std::chrono::steady_clock::now() < silent_until_) {
    return MakeSilentError();
  }
  // Nothing is written yet, so that a second try on a new connection is safe.
  if (!is_lost_) {
    absl::Status status = Execute(begin);
    if (status.ok() || connection_ == nullptr) return status;
    if (!is_lost_) {
      Execute("ROLLBACK").IgnoreError();
      return status;
    }
  }
  RETURN_IF_ERROR(Connect());
  absl::Status status = Execute(begin);
  if (!status.ok()) Execute("ROLLBACK").IgnoreError();
  return status;
}

}  // namespace meshwright::postgres
