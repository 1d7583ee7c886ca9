// What only the SQLite store can get wrong: files, versions, disks, processes.
// The contract of every store is tests/conformance/profile_store_conformance.
#include "profiledb/sqlite/sqlite_profile_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "profiledb/schema/migrations.h"

namespace meshwright::sqlite {
namespace {

class SqliteProfileStoreTest : public testing::Test {
 protected:
  SqliteProfileStoreTest() {
    folder_ = absl::StrCat(testing::TempDir(), "/sqlite_store_", getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/profiles.db";
  }
  ~SqliteProfileStoreTest() override { std::filesystem::remove_all(folder_); }

  void Sql(const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr),
              SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  std::string folder_;
  std::string path_;
};

v1::ProfileResult Row(const std::string& key, size_t padding = 0) {
  v1::ProfileResult result;
  result.set_key(key);
  result.set_outcome(v1::MEASURED);
  result.set_reason(std::string(padding, 'x'));
  return result;
}

int64_t Measured(SqliteProfileStore& store) {
  const auto statistics = store.Count();
  EXPECT_TRUE(statistics.ok()) << statistics.status();
  const auto found = statistics->profiles.find(v1::MEASURED);
  return found == statistics->profiles.end() ? 0 : found->second;
}

TEST_F(SqliteProfileStoreTest, RowsOutliveTheStore) {
  ASSERT_TRUE((*SqliteProfileStore::Open(path_))->Record(Row("k"), {}).ok());
  const auto store = SqliteProfileStore::Open(path_);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->Lookup({{"k"}})->size(), 1);
}

TEST_F(SqliteProfileStoreTest, ANewerStoreIsRefusedInOneSentence) {
  ASSERT_TRUE(SqliteProfileStore::Open(path_).ok());
  Sql("PRAGMA user_version = 99");
  const auto store = SqliteProfileStore::Open(path_);
  EXPECT_EQ(store.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(store.status().message(),
            absl::StrCat("the store ", path_,
                         " has version 99, but this program knows none after ",
                         schema::NewestVersion()));
}

TEST_F(SqliteProfileStoreTest, AFileThatIsNoStoreIsLeftAsItWas) {
  const std::string text(4096, 'n');
  std::ofstream(path_) << text;
  EXPECT_EQ(SqliteProfileStore::Open(path_).status().code(),
            absl::StatusCode::kInvalidArgument);
  std::ifstream file(path_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
}

TEST_F(SqliteProfileStoreTest, ADatabaseOfAnotherProgramIsRefused) {
  Sql("CREATE TABLE bookmarks (url TEXT)");
  const auto store = SqliteProfileStore::Open(path_);
  EXPECT_EQ(store.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store.status().message(),
            path_ + " is a database of another program, not a store");
}

TEST_F(SqliteProfileStoreTest, AFullDiskLosesNothing) {
  const auto store = SqliteProfileStore::Open(path_, {.max_bytes = 256 * 1024});
  ASSERT_TRUE(store.ok()) << store.status();
  int64_t recorded = 0;
  absl::Status status;
  while (status.ok() && recorded < 1000) {
    status = (*store)->Record(Row(absl::StrCat("k", recorded), 4000), {});
    if (status.ok()) ++recorded;
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("the disk is full"), std::string::npos);
  EXPECT_GT(recorded, 10);
  EXPECT_EQ(Measured(**store), recorded);
  // With room again, the same store goes on.
  const auto roomy = SqliteProfileStore::Open(path_);
  ASSERT_TRUE(roomy.ok()) << roomy.status();
  EXPECT_TRUE((*roomy)->Record(Row("late"), {}).ok());
  EXPECT_EQ(Measured(**roomy), recorded + 1);
}

TEST_F(SqliteProfileStoreTest, ADamagedRowIsSaid) {
  ASSERT_TRUE((*SqliteProfileStore::Open(path_))->Record(Row("k"), {}).ok());
  Sql("UPDATE profiles SET result = x'ff'");
  const auto store = SqliteProfileStore::Open(path_);
  EXPECT_EQ((*store)->Lookup({{"k"}}).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_TRUE((*store)->Lookup({{"other"}}).ok());
}

TEST_F(SqliteProfileStoreTest, ProcessesShareOneFile) {
  constexpr int kProcesses = 4;
  constexpr int kRows = 25;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // Each opens the new file itself, all at once.
      const auto store = SqliteProfileStore::Open(path_);
      if (!store.ok()) _exit(1);
      for (int r = 0; r < kRows; ++r) {
        const bool ok =
            (*store)->Record(Row(absl::StrCat(p, "/", r)), {}).ok() &&
            (*store)->Record(Row(absl::StrCat("same/", r)), {}).ok();
        if (!ok) _exit(2);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  const auto store = SqliteProfileStore::Open(path_);
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(Measured(**store), kProcesses * kRows + kRows);
}

}  // namespace
}  // namespace meshwright::sqlite
