#include "profiledb/postgres/testing/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "profiledb/postgres/postgres_database.h"

namespace meshwright::postgres {
namespace {

// Debian keeps them out of the path.
std::string FindPrograms() {
  std::vector<std::string> versions;
  std::error_code error;
  for (const auto& it :
       std::filesystem::directory_iterator("/usr/lib/postgresql", error)) {
    versions.push_back(it.path().string() + "/bin");
  }
  std::sort(versions.rbegin(), versions.rend());
  for (const std::string& folder : versions) {
    if (access((folder + "/initdb").c_str(), X_OK) == 0 &&
        access((folder + "/postgres").c_str(), X_OK) == 0) {
      return folder;
    }
  }
  return "";
}

// Starts a program as another user, its output in a pipe; it ends with this
// process.
absl::StatusOr<pid_t> StartProgram(const std::vector<std::string>& words,
                                   uid_t user, gid_t group, int* output) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return absl::ErrnoToStatus(errno, "cannot fork");
  if (child == 0) {
    // Only calls that are safe between fork and exec.
    dup2(pipe_ends[1], STDOUT_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
    const bool is_user =
        geteuid() != 0 ||
        (setgroups(0, nullptr) == 0 && setgid(group) == 0 && setuid(user) == 0);
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (!is_user || chdir("/") != 0 || getppid() != parent) _exit(126);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(pipe_ends[1]);
  *output = pipe_ends[0];
  return child;
}

// Reads until the text is there; false: the output ended without it.
bool ReadUntil(int file, std::string_view text, std::string& seen) {
  char buffer[4096];
  while (text.empty() || seen.find(text) == std::string::npos) {
    const ssize_t size = read(file, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    seen.append(buffer, static_cast<size_t>(size));
  }
  return true;
}

std::vector<pid_t> Children(pid_t process) {
  std::ifstream file(
      absl::StrCat("/proc/", process, "/task/", process, "/children"));
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PostgresServer>> PostgresServer::Start(
    const Options& options) {
  std::unique_ptr<PostgresServer> server(new PostgresServer(options));
  RETURN_IF_ERROR(server->Prepare());
  RETURN_IF_ERROR(server->Restart());
  return server;
}

PostgresServer::~PostgresServer() {
  if (process_ != 0) {
    kill(process_, SIGQUIT);
    Wait();
  }
  std::error_code error;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
}

absl::Status PostgresServer::Prepare() {
  programs_ = FindPrograms();
  if (programs_.empty()) {
    return absl::NotFoundError("PostgreSQL's server is not installed");
  }
  if (geteuid() == 0) {
    for (const char* const name : {"postgres", "nobody"}) {
      const passwd* const entry = getpwnam(name);
      if (entry == nullptr) continue;
      user_ = entry->pw_uid;
      group_ = entry->pw_gid;
      break;
    }
    if (user_ == 0) return absl::NotFoundError("no user may run PostgreSQL");
  }
  // The path of a socket has at most 107 letters.
  char name[] = "/tmp/mwpg_XXXXXX";
  if (mkdtemp(name) == nullptr) {
    return absl::ErrnoToStatus(errno, "cannot make a folder in /tmp");
  }
  folder_ = name;
  if (user_ != 0 && chown(name, user_, group_) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot give away ", name));
  }
  int output = -1;
  ASSIGN_OR_RETURN(const pid_t initdb,
                   StartProgram({programs_ + "/initdb", "-D", folder_ + "/data",
                                 "-A", "trust", "-U", "meshwright", "-E",
                                 "UTF8", "--locale=C", "--no-sync"},
                                user_, group_, &output));
  std::string said;
  ReadUntil(output, "", said);
  close(output);
  int status = 0;
  waitpid(initdb, &status, 0);
  if (status == 0) return {};
  return absl::InternalError(absl::StrCat("initdb failed: ", said));
}

absl::Status PostgresServer::Restart() {
  std::vector<std::string> words = {programs_ + "/postgres",
                                    "-D",
                                    folder_ + "/data",
                                    "-k",
                                    folder_,
                                    "-c",
                                    "listen_addresses=",
                                    "-c",
                                    "lc_messages=C",
                                    "-c",
                                    "log_destination=stderr",
                                    "-c",
                                    "logging_collector=off",
                                    "-c",
                                    "shared_buffers=32MB",
                                    "-c",
                                    "max_connections=40"};
  if (!options_.is_durable) {
    for (const char* const word : {"-c", "fsync=off", "-c", "autovacuum=off"}) {
      words.emplace_back(word);
    }
  }
  int output = -1;
  ASSIGN_OR_RETURN(process_, StartProgram(words, user_, group_, &output));
  std::string said;
  if (!ReadUntil(output, "ready to accept connections", said)) {
    close(output);
    Wait();
    return absl::InternalError(absl::StrCat("PostgreSQL ended: ", said));
  }
  // Or a full pipe would stop the server.
  reader_ = std::thread([output] {
    std::string rest;
    ReadUntil(output, "", rest);
    close(output);
  });
  return {};
}

void PostgresServer::Wait() {
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = 0;
  if (reader_.joinable()) reader_.join();
}

void PostgresServer::Pause() const {
  kill(process_, SIGSTOP);  // first: stopped, it starts no further process
  for (const pid_t child : Children(process_)) kill(child, SIGSTOP);
}

void PostgresServer::Resume() const {
  for (const pid_t child : Children(process_)) kill(child, SIGCONT);
  kill(process_, SIGCONT);
}

void PostgresServer::Kill() {
  // Stopped, it starts no further process.
  kill(process_, SIGSTOP);
  const std::vector<pid_t> children = Children(process_);
  EXPECT_FALSE(children.empty()) << "the system does not list children";
  for (const pid_t child : children) kill(child, SIGKILL);
  kill(process_, SIGKILL);
  Wait();  // until no process holds the pipe
}

void PostgresServer::Stop() {
  kill(process_, SIGINT);
  Wait();
}

std::string PostgresServer::Url(const std::string& user) const {
  return absl::StrCat("postgres://", user, "@/postgres?host=", folder_);
}

std::string PostgresServer::NewStoreUrl() {
  const std::string name = absl::StrCat("store", ++stores_);
  Sql(Url(), "CREATE SCHEMA " + name);
  return absl::StrCat(Url(), "&options=-csearch_path%3D", name);
}

void PostgresServer::Sql(const std::string& url, const std::string& sql) const {
  const auto database = PostgresDatabase::Open(url);
  ASSERT_TRUE(database.ok()) << database.status();
  const absl::Status status = (*database)->Execute(sql);
  EXPECT_TRUE(status.ok()) << status;
}

int64_t PostgresServer::Query(const std::string& url,
                              const std::string& sql) const {
  const auto database = PostgresDatabase::Open(url);
  EXPECT_TRUE(database.ok()) << database.status();
  if (!database.ok()) return 0;
  const auto figure = (*database)->QueryInteger(sql);
  EXPECT_TRUE(figure.ok()) << figure.status();
  return figure.value_or(0);
}

}  // namespace meshwright::postgres
