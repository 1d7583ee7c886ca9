#include "profiledb/sqlite/testing/store_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "profiledb/sqlite/sqlite_database.h"

namespace meshwright::sqlite {
StoreFile::StoreFile(const std::string& name)
    : folder_(absl::StrCat(testing::TempDir(), "/", name, "_", getpid())),
      path_(folder_ + "/profiles.db") {
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
}

StoreFile::~StoreFile() { std::filesystem::remove_all(folder_); }

void StoreFile::Sql(const std::string& sql) const {
  const auto database = SqliteDatabase::Open(path_);
  ASSERT_TRUE(database.ok()) << database.status();
  const absl::Status status = (*database)->Execute(sql);
  EXPECT_TRUE(status.ok()) << status;
}

int64_t StoreFile::Query(const std::string& sql) const {
  const auto database = SqliteDatabase::Open(path_);
  EXPECT_TRUE(database.ok()) << database.status();
  if (!database.ok()) return 0;
  const auto figure = (*database)->QueryInteger(sql);
  EXPECT_TRUE(figure.ok()) << figure.status();
  return figure.value_or(0);
}

int StoreFile::FlipIn(const std::string& text) const {
  std::string bytes;
  {
    std::ifstream file(path_, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  int places = 0;
  size_t at = bytes.find(text);
  while (at != std::string::npos) {
    ++places;
    const size_t middle = at + text.size() / 2;
    bytes[middle] = static_cast<char>(bytes[middle] ^ 1);
    at = bytes.find(text, at + text.size());
  }
  std::ofstream(path_, std::ios::binary) << bytes;
  return places;
}

}  // namespace meshwright::sqlite
