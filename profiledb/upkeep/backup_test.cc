#include "profiledb/upkeep/backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "profiledb/open.h"
#include "profiledb/postgres/testing/postgres_server.h"
#include "profiledb/sqlite/testing/store_file.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

using testing::HasSubstr;

std::unique_ptr<ProfileStore> Open(const std::string& path) {
  auto store = OpenProfileStore(path);
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

void Fill(const std::string& path, int rows) {
  const auto store = Open(path);
  for (int i = 0; i < rows; ++i) {
    ASSERT_TRUE(store->Record(MakeWorkersRow(absl::StrCat(i), i), {}).ok());
  }
  ASSERT_TRUE(store->RecordProgram(MakeKey("p"), "module").ok());
}

class BackupTest : public testing::Test {
 protected:
  size_t FilesBeside() const {
    const auto folder = std::filesystem::path(file_.path()).parent_path();
    return std::distance(std::filesystem::directory_iterator(folder), {});
  }

  const sqlite::StoreFile file_{"backup"};
  const std::string copy_ = file_.path() + ".copy";
};

TEST_F(BackupTest, ACopyIsAStore) {
  Fill(file_.path(), 50);
  const auto report = BackUpStore(file_.path(), copy_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->bytes(), std::filesystem::file_size(copy_));
  EXPECT_EQ(FilesBeside(), 2);
  const auto copy = Open(copy_);
  EXPECT_EQ(copy->Count()->profiles.at(v1::MEASURED), 50);
  EXPECT_EQ(*copy->LookupProgram(MakeKey("p")), "module");
  EXPECT_TRUE(copy->Verify()->empty());
}

// The folder of a process that was killed in the middle has no lock.
TEST_F(BackupTest, TheNextOneRemovesWhatAKilledOneLeft) {
  Fill(file_.path(), 5);
  const std::string folder = testing::TempDir() + "/backup_test.tmp";
  const std::string left = folder + "/meshwright-backup-abcdef";
  std::filesystem::create_directories(left);
  ASSERT_TRUE(base::WriteFile(left + "/store.db", "half").ok());
  ASSERT_EQ(setenv("TMPDIR", folder.c_str(), 1), 0);
  const auto backup = MakeOutgoingBackup(file_.path());
  unsetenv("TMPDIR");
  ASSERT_TRUE(backup.ok()) << backup.status();
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::string bytes(1 << 20, '\0');
  EXPECT_EQ(std::fread(bytes.data(), 1, bytes.size(), backup->file.get()),
            backup->report.bytes());
  std::filesystem::remove_all(folder);
}

// Another process records all the time: the copy is of one moment, whole.
TEST_F(BackupTest, AStoreInUseIsCopied) {
  Fill(file_.path(), 50);
  int to_parent[2];
  ASSERT_EQ(pipe(to_parent), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto store = OpenProfileStore(file_.path());
    if (!store.ok()) _exit(1);
    for (int i = 0; true; ++i) {
      const Entry entries[] = {
          {.result = MakeMeasured(absl::StrCat("one ", i))},
          {.result = MakeMeasured(absl::StrCat("other ", i))}};
      if (!(*store)->Record(entries).ok()) _exit(2);
      if (i == 20 && write(to_parent[1], "x", 1) != 1) _exit(3);
    }
  }
  char byte = 0;
  EXPECT_EQ(read(to_parent[0], &byte, 1), 1);
  for (int i = 0; i < 5; ++i) {
    const std::string copy = absl::StrCat(copy_, i);
    const auto report = BackUpStore(file_.path(), copy);
    ASSERT_TRUE(report.ok()) << report.status();
    const int64_t rows = Open(copy)->Count()->profiles.at(v1::MEASURED);
    EXPECT_GE(rows, 50 + 42);
    EXPECT_EQ(rows % 2, 0);
    EXPECT_TRUE(Open(copy)->Verify()->empty());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, WNOHANG), 0) << "the writer has failed";
  kill(child, SIGKILL);
  EXPECT_EQ(waitpid(child, &status, 0), child);
  close(to_parent[0]);
  close(to_parent[1]);
}

TEST_F(BackupTest, AFullDiskLeavesNothing) {
  Fill(file_.path(), 500);
  const absl::Status status =
      BackUpStore(file_.path(), copy_, {.max_bytes = 64 << 10}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("the disk is full"));
  EXPECT_EQ(FilesBeside(), 1);
  EXPECT_EQ(Open(file_.path())->Count()->profiles.at(v1::MEASURED), 500);
}

TEST_F(BackupTest, WhatIsThereIsNeverOverwritten) {
  Fill(file_.path(), 1);
  ASSERT_TRUE(base::WriteFile(copy_, "mine").ok());
  EXPECT_EQ(BackUpStore(file_.path(), copy_).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(*base::ReadFile(copy_), "mine");
}

TEST_F(BackupTest, StoresThatAreNone) {
  EXPECT_EQ(BackUpStore(file_.path(), copy_).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(FilesBeside(), 0);
  ASSERT_TRUE(base::WriteFile(file_.path(), std::string(4096, 'n')).ok());
  EXPECT_EQ(BackUpStore(file_.path(), copy_).status().code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(std::filesystem::remove(file_.path()));
  file_.Sql("CREATE TABLE bookmarks (url TEXT)");
  EXPECT_EQ(BackUpStore(file_.path(), copy_).status().message(),
            file_.path() + " is not a Meshwright store");
  EXPECT_FALSE(std::filesystem::exists(copy_));
}

TEST_F(BackupTest, ADatabaseOfPostgresIsCopiedToo) {
  const auto server = postgres::PostgresServer::Start({});
  if (absl::IsNotFound(server.status())) {
    GTEST_SKIP() << "PostgreSQL's server is not installed";
  }
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string url = (*server)->NewStoreUrl();
  Fill(url, 300);
  const absl::Status full =
      BackUpStore(url, copy_, {.max_bytes = 96 << 10}).status();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
  EXPECT_EQ(FilesBeside(), 0);
  const auto report = BackUpStore(url, copy_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(Open(copy_)->Count()->profiles.at(v1::MEASURED), 300);
  EXPECT_EQ(*Open(copy_)->LookupProgram(MakeKey("p")), "module");
  EXPECT_EQ(FilesBeside(), 1);
}

}  // namespace
}  // namespace meshwright::store
