#include "worker/comm/executor/slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "base/exit_status.h"
#include "base/file.h"

namespace meshwright::worker::comm {
namespace {

using ::testing::HasSubstr;

// Tasks "a" and "b" to files, of which "a" is there and old.
class WriteSlicesTest : public testing::Test {
 protected:
  WriteSlicesTest() {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    EXPECT_TRUE(base::WriteFile(folder_ + "/a", "old").ok());
    plan_.tasks.resize(2);
    plan_.tasks[0].id = "a";
    plan_.tasks[1].id = "b";
  }
  ~WriteSlicesTest() override { std::filesystem::remove_all(folder_); }

  absl::Status Write(size_t a, size_t b) const {
    const std::vector<std::vector<std::byte>> slices = {
        std::vector<std::byte>(a, std::byte{'x'}),
        std::vector<std::byte>(b, std::byte{'y'})};
    return WriteSlices(folder_, plan_, std::vector<int>{0, 1}, slices);
  }

  std::string Content(const std::string& name) const {
    return base::ReadFile(folder_ + "/" + name).value_or("none");
  }

  size_t CountFiles() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      count += entry.exists() ? 1 : 0;
    }
    return count;
  }

  std::string folder_ = testing::TempDir() + "/slices_test_XXXXXX";
  Plan plan_;
};

TEST_F(WriteSlicesTest, ReplacesAllFiles) {
  const absl::Status status = Write(3, 2);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(Content("a"), "xxx");
  EXPECT_EQ(Content("b"), "yy");
  EXPECT_EQ(CountFiles(), 2);
}

TEST_F(WriteSlicesTest, ADiskThatFillsLeavesEveryFileAsItWas) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status status = Write(10, 100'000);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(std::string(status.message()), HasSubstr("task b: "));
  EXPECT_EQ(base::ToExitStatus(status), base::kExitFailure);
  EXPECT_EQ(Content("a"), "old");
  EXPECT_EQ(CountFiles(), 1);
}

TEST_F(WriteSlicesTest, ANameThatCannotBeAFileIsKnownBefore) {
  std::filesystem::create_directory(folder_ + "/b");
  EXPECT_THAT(std::string(Write(3, 2).message()), HasSubstr("is a folder"));
  EXPECT_EQ(Content("a"), "old");
  plan_.tasks[1].id = "b/c";
  EXPECT_EQ(CheckSliceFiles(folder_, plan_, std::vector<int>{0, 1}).code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace meshwright::worker::comm
