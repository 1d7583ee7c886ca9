// PostgresDatabase: a connection to a PostgreSQL database.
//
// Concept: each transaction begins on a connection that lives. One that was
// lost since the last transaction is made again first, and statements are
// prepared again where they are used. Writers of all processes take turns by an
// advisory lock that their transaction holds, so that what a writer reads stays
// true until it commits. A lost server ends the transaction: the server rolls
// it back. A server that says nothing for a while counts as lost, and callers
// behind the one that waited for it are told so at once.
//
// Threads, ownership and errors: those of tables::Database, and
// kInvalidArgument for a URL that is none or a database that does not exist. No
// message holds the password.
#ifndef MESHWRIGHT_PROFILEDB_POSTGRES_POSTGRES_DATABASE_H_
#define MESHWRIGHT_PROFILEDB_POSTGRES_POSTGRES_DATABASE_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiledb/tables/database.h"

struct pg_conn;
struct pg_result;

namespace meshwright::postgres {

// The URL as messages name it, without its password. kInvalidArgument: it is
// none.
absl::StatusOr<std::string> NameOfUrl(const std::string& url);

class PostgresDatabase : public tables::Database {
 public:
  // Connects. Errors: see above, and kUnavailable for a server that does not
  // answer.
  // `patience`: longer than a writer waits for a lock.
  static absl::StatusOr<std::unique_ptr<PostgresDatabase>> Open(
      const std::string& url,
      std::chrono::milliseconds patience = std::chrono::seconds(15));
  PostgresDatabase(const PostgresDatabase&) = delete;
  PostgresDatabase& operator=(const PostgresDatabase&) = delete;

  absl::Status Execute(const std::string& sql) override;
  absl::StatusOr<std::unique_ptr<tables::Statement>> Prepare(
      const std::string& sql) override;
  bool HasArrays() const override { return true; }
  std::string FormatHexSql(const std::string& column) const override;
  // Of this statement, not of the transaction, which may have waited.
  std::string ClockMs() const override {
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
  }
  std::string WithOwnIds() const override { return " OVERRIDING SYSTEM VALUE"; }
  absl::Status PassIds(const std::string& table) override;
  // The server checks its own pages.
  absl::Status Check() override { return {}; }
  const std::string& name() const override { return name_; }

 private:
  friend class PostgresStatement;
  struct PreparedText {
    std::string name;
    int64_t connection = 0;  // where it is prepared; 0: nowhere
  };
  struct Close {
    void operator()(pg_conn* connection) const;
  };

  PostgresDatabase(std::string url, std::string name,
                   std::chrono::milliseconds patience)
      : url_(std::move(url)), name_(std::move(name)), patience_(patience) {}

  absl::Status Begin(tables::Access access) override;
  absl::Status Connect();
  // Of what was sent; `result` is set, where it is not null, with an OK.
  absl::Status Await(int is_sent, pg_result** result);
  absl::Status LoseSilent();
  absl::Status MakeSilentError() const;
  // Of a statement that failed.
  absl::Status Failure(const pg_result* result);

  const std::string url_;
  const std::string name_;
  const std::chrono::milliseconds patience_;
  // The server did not answer; the next try comes after this.
  std::chrono::steady_clock::time_point silent_until_;
  std::unique_ptr<pg_conn, Close> connection_;
  int64_t connections_ = 0;  // made so far; statements belong to one
  // By text: the server keeps each once, however often it is prepared.
  std::map<std::string, PreparedText> prepared_;
  bool is_lost_ = false;
};

}  // namespace meshwright::postgres

#endif  // MESHWRIGHT_PROFILEDB_POSTGRES_POSTGRES_DATABASE_H_
