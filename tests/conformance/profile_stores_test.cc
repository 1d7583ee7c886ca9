// Every ProfileStore this build has, held to the one suite.
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "profiledb/postgres/postgres_profile_store.h"
#include "profiledb/postgres/testing/postgres_server.h"
#include "profiledb/sqlite/sqlite_profile_store.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "tests/conformance/profile_store_conformance.h"

namespace meshwright::conformance {
namespace {

std::unique_ptr<store::ProfileStore> MakeFake() {
  return std::make_unique<store::FakeProfileStore>();
}

std::unique_ptr<store::ProfileStore> MakeSqlite() {
  const std::string folder =
      absl::StrCat(testing::TempDir(), "/conformance_", getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  auto store = sqlite::SqliteProfileStore::Open(folder + "/profiles.db");
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

// One server for all tests; each store has a schema of its own.
std::unique_ptr<store::ProfileStore> MakePostgres() {
  static const auto server = postgres::PostgresServer::Start({});
  if (absl::IsNotFound(server.status())) {
    [] { GTEST_SKIP() << "PostgreSQL's server is not installed"; }();
    return nullptr;
  }
  EXPECT_TRUE(server.ok()) << server.status();
  if (!server.ok()) return nullptr;
  auto store = postgres::PostgresProfileStore::Open((*server)->NewStoreUrl());
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

INSTANTIATE_TEST_SUITE_P(Fake, ProfileStoreConformance,
                         testing::Values(MakeFake));
INSTANTIATE_TEST_SUITE_P(Sqlite, ProfileStoreConformance,
                         testing::Values(MakeSqlite));
INSTANTIATE_TEST_SUITE_P(Postgres, ProfileStoreConformance,
                         testing::Values(MakePostgres));

}  // namespace
}  // namespace meshwright::conformance
