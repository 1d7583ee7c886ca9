#include "base/file.h"

#include <gtest/gtest.h>

#include "base/partial_file.h"

namespace meshwright::base {
namespace {

TEST(FileTest, ReadsBackWhatItWrote) {
  const std::string path = testing::TempDir() + "/file_test";
  const std::string content("a\0b", 3);
  ASSERT_TRUE(WriteFile(path, content).ok());
  EXPECT_EQ(*ReadFile(path), content);
}

TEST(FileTest, AFileWithoutANameIsWrittenAndRead) {
  const absl::StatusOr<OwnedFile> file = OpenUnnamedFile();
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(std::fputs("abc", file->get()), 1);
  std::rewind(file->get());
  char read[8] = {};
  EXPECT_EQ(std::fread(read, 1, sizeof(read), file->get()), 3u);
  EXPECT_STREQ(read, "abc");
}

TEST(FileTest, AMissingFileIsNamed) {
  const auto content = ReadFile("/nonexistent/file");
  EXPECT_EQ(content.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(content.status().message().find("/nonexistent/file"),
            std::string::npos);
}

TEST(FileTest, WithoutACommitTheOldContentStands) {
  const std::string path = testing::TempDir() + "/partial_file_test";
  ASSERT_TRUE(WriteFile(path, "old").ok());
  std::string place;
  {
    auto file = PartialFile::Create(path);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_TRUE(file->Write("new").ok());
    EXPECT_TRUE(file->Sync().ok());
    place = file->place();
    EXPECT_EQ(*ReadFile(place), "new");
  }
  EXPECT_EQ(*ReadFile(path), "old");
  EXPECT_EQ(ReadFile(place).status().code(), absl::StatusCode::kNotFound);
}

TEST(FileTest, AFullDiskIsSaid) {
  const absl::Status status = WriteFile("/dev/full", "x");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace meshwright::base
