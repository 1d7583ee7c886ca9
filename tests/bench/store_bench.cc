// The profile store: look-ups, bytes a row, recording, migration.
//
//   build/release/bin/store_bench [--rows N] [--program-rows N]
//                                 [--old-rows N] [--postgres-rows N]
//
// Rows are those of a transformer's programs (profiledb/store/testing/rows.h),
// in a file under $TMPDIR that is removed at the end. Look-ups are of known
// keys in random order, 200 a call as a plan asks, on one connection and
// thread, after one pass over them; the migration's rows have 60 samples each.
// Rows with programs are fewer: each has one of kProgramBytes.
// PostgreSQL runs beside it on a unix socket, with its defaults: each commit
// waits for the disk. Without the server installed, its part is left out.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/file.h"
#include "profiledb/postgres/postgres_profile_store.h"
#include "profiledb/postgres/testing/postgres_server.h"
#include "profiledb/schema/migrations.h"
#include "profiledb/sqlite/sqlite_database.h"
#include "profiledb/sqlite/sqlite_profile_store.h"
#include "profiledb/store/testing/rows.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/figure.h"
#include "tests/bench/made_up_program.h"

namespace meshwright {
namespace {

constexpr int kKeysPerCall = 200;
constexpr int kWriters = 64;

struct Flags {
  int rows = 200'000;
  int program_rows = 20'000;
  int old_rows = 1'000'000;
  int postgres_rows = 50'000;
};

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

struct Took {
  double wall = 0;
  double cpu = 0;
};

Took Time(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu = CpuSeconds();
  work();
  const std::chrono::duration<double> wall =
      std::chrono::steady_clock::now() - start;
  return {wall.count(), CpuSeconds() - cpu};
}

std::string Name(int row) { return absl::StrFormat("row %d", row); }

std::unique_ptr<sqlite::SqliteProfileStore> Open(const std::string& path) {
  auto store = sqlite::SqliteProfileStore::Open(path);
  Require(store.status());
  return *std::move(store);
}

// `module`: what programs are pieces of; empty: rows have none.
void Record(store::ProfileStore& store, int rows,
            const std::string& module = "") {
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      for (int row = w; row < rows; row += kWriters) {
        store::Entry entry{.result = store::MakeWorkersRow(Name(row), row),
                           .origin = store::MakeWorkersOrigin(row)};
        const std::string program =
            module.empty() ? "" : MakeUpProgram(module, row);
        if (!module.empty()) entry.program = program;
        Require(store.Record({&entry, 1}));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
}

Took LookUp(store::ProfileStore& store, int rows) {
  std::vector<std::string> keys;
  for (int row = 0; row < rows; ++row) {
    keys.push_back(store::MakeKey(Name(row)));
  }
  std::shuffle(keys.begin(), keys.end(), std::mt19937(1));
  const auto pass = [&] {
    for (size_t at = 0; at < keys.size(); at += kKeysPerCall) {
      const auto part = absl::MakeConstSpan(keys).subspan(at, kKeysPerCall);
      const auto results = store.Lookup(part);
      Require(results.status());
      if (results->size() != part.size()) std::abort();
    }
  };
  pass();
  return Time(pass);
}

void RunPostgres(int rows) {
  const auto server = postgres::PostgresServer::Start({.is_durable = true});
  if (absl::IsNotFound(server.status())) {
    std::printf("PostgreSQL's server is not installed\n");
    return;
  }
  Require(server.status());
  const auto store =
      postgres::PostgresProfileStore::Open((*server)->NewStoreUrl());
  Require(store.status());
  const Took record = Time([&] { Record(**store, rows); });
  PrintFigure(absl::StrFormat("rows recorded a second in PostgreSQL, %d "
                              "writers, %d rows",
                              kWriters, rows),
              "≥ 500", absl::StrFormat("%.0f", rows / record.wall));
  const Took look_up = LookUp(**store, rows);
  PrintFigure(
      absl::StrFormat("look-ups a second in PostgreSQL, one "
                      "connection, %d rows: wall (of our CPU time)",
                      rows),
      "≥ 20,000",
      absl::StrFormat("%.0f (%.0f)", rows / look_up.wall, rows / look_up.cpu));
}

// A store of version 1, written with the SQL of its day.
void WriteVersion1(const std::string& path, int rows) {
  const auto database = sqlite::SqliteDatabase::Open(path);
  Require(database.status());
  Require((*database)->Execute(absl::StrFormat(
      "%s; PRAGMA application_id = %d; PRAGMA user_version = "
      "1; PRAGMA journal_mode = WAL; BEGIN",
      schema::ListMigrations().front().sql, schema::kApplicationId)));
  auto insert = (*database)->Prepare(
      "INSERT INTO profiles VALUES ('shared', ?1, 1, ?2, "
      "'a-machine.of-the-cluster', '', ?3)");
  Require(insert.status());
  v1::ProfileResult result;
  for (int row = 0; row < rows; ++row) {
    if (row % 5000 == 0) result = store::MakeWorkersRow("", row);
    // In the order of keys, or writing the old store is what takes long.
    const std::string key = absl::StrFormat("%064x", row);
    result.set_key(key);
    const std::string bytes = result.SerializeAsString();
    const tables::StatementUse use(**insert);
    (*insert)->BindText(1, key);
    (*insert)->BindBlob(2, bytes);
    (*insert)->BindInteger(3, row);
    Require((*insert)->Run());
  }
  Require((*database)->Execute("COMMIT"));
}

void Run(const Flags& flags, const std::string& folder) {
  const std::string path = folder + "/profiles.db";
  const Took record = Time([&] { Record(*Open(path), flags.rows); });
  std::printf("rows recorded a second, %d writers: %.0f\n", kWriters,
              flags.rows / record.wall);
  PrintFigure(
      absl::StrFormat("bytes a row without its program, %d rows", flags.rows),
      "≤ 1,000",
      absl::StrFormat("%d", std::filesystem::file_size(path) / flags.rows));
  const std::string with_programs = folder + "/with_programs.db";
  const auto module = base::ReadFile(kProgramModule);
  Require(module.status());
  const Took whole =
      Time([&] { Record(*Open(with_programs), flags.program_rows, *module); });
  std::printf("rows recorded a second with programs, %d writers: %.0f\n",
              kWriters, flags.program_rows / whole.wall);
  PrintFigure(absl::StrFormat("bytes a row with its program of %d bytes, %d "
                              "rows",
                              kProgramBytes, flags.program_rows),
              "≤ 15,000",
              absl::StrFormat("%d", std::filesystem::file_size(with_programs) /
                                        flags.program_rows));
  const Took look_up = LookUp(*Open(path), flags.rows);
  PrintFigure(absl::StrFormat("look-ups a second, one connection, %d rows: "
                              "wall (of CPU time)",
                              flags.rows),
              "≥ 100,000",
              absl::StrFormat("%.0f (%.0f)", flags.rows / look_up.wall,
                              flags.rows / look_up.cpu));
  RunPostgres(flags.postgres_rows);

  const std::string old_path = folder + "/old.db";
  WriteVersion1(old_path, flags.old_rows);
  const auto before = std::filesystem::file_size(old_path);
  const Took migrate = Time([&] { Open(old_path); });
  PrintFigure(absl::StrFormat("migration of %d rows of version 1: wall (CPU)",
                              flags.old_rows),
              "≤ 60 s a million",
              absl::StrFormat("%.1f s (%.1f s)", migrate.wall, migrate.cpu));
  std::printf("file after the migration over the file before: %.2f\n",
              static_cast<double>(std::filesystem::file_size(old_path)) /
                  static_cast<double>(before));
}

}  // namespace
}  // namespace meshwright

int main(int argc, char** argv) {
  meshwright::Flags flags;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rows") == 0)
      flags.rows = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--program-rows") == 0) {
      flags.program_rows = std::atoi(argv[i + 1]);
    }
    if (std::strcmp(argv[i], "--old-rows") == 0) {
      flags.old_rows = std::atoi(argv[i + 1]);
    }
    if (std::strcmp(argv[i], "--postgres-rows") == 0) {
      flags.postgres_rows = std::atoi(argv[i + 1]);
    }
  }
  const auto folder = std::filesystem::temp_directory_path() /
                      absl::StrFormat("meshwright_store_bench_%d", getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  meshwright::Run(flags, folder);
  std::filesystem::remove_all(folder);
  return 0;
}
