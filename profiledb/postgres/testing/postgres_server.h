// PostgresServer: a PostgreSQL of a test's own, in a folder of its own.
//
// Concept: a real server on a unix socket, without TCP, that trusts everybody
// who may enter the folder. PostgreSQL refuses to run as root: then it runs as
// the user postgres, or nobody. It ends with the process that started it.
// Threads: one.
// Errors: kNotFound where PostgreSQL, or a user that may run it, is missing;
// kInternal for a server that does not start.
#ifndef MESHWRIGHT_PROFILEDB_POSTGRES_TESTING_POSTGRES_SERVER_H_
#define MESHWRIGHT_PROFILEDB_POSTGRES_TESTING_POSTGRES_SERVER_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::postgres {

class PostgresServer {
 public:
  struct Options {
    // Without it a crash of the machine may lose what was committed.
    bool is_durable = false;
  };

  // kNotFound where PostgreSQL is not installed.
  static absl::StatusOr<std::unique_ptr<PostgresServer>> Start(
      const Options& options);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // Of a database in it, as its superuser or as `user`.
  std::string Url(const std::string& user = "meshwright") const;
  // Of a schema in it that is empty.
  std::string NewStoreUrl();
  // Fails the test if the server refuses.
  void Sql(const std::string& url, const std::string& sql) const;
  int64_t Query(const std::string& url, const std::string& sql) const;

  // Stops every process of it, which keep their connections, and lets them go
  // on.
  void Pause() const;
  void Resume() const;
  // Ends every process of it as kill -9 does.
  void Kill();
  // Ends it cleanly; open transactions are rolled back.
  void Stop();
  // After Kill or Stop.
  absl::Status Restart();

 private:
  explicit PostgresServer(const Options& options) : options_(options) {}

  absl::Status Prepare();
  void Wait();

  const Options options_;
  std::string programs_;  // the folder of initdb and postgres
  std::string folder_;
  uid_t user_ = 0;
  gid_t group_ = 0;
  pid_t process_ = 0;   // 0: it does not run
  std::thread reader_;  // of what it logs
  int stores_ = 0;
};

}  // namespace meshwright::postgres

#endif  // MESHWRIGHT_PROFILEDB_POSTGRES_TESTING_POSTGRES_SERVER_H_
