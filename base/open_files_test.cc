#include "base/open_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace meshwright::base {
namespace {

class OpenFilesTest : public testing::Test {
 protected:
  OpenFilesTest() { getrlimit(RLIMIT_NOFILE, &files_); }
  ~OpenFilesTest() override { setrlimit(RLIMIT_NOFILE, &files_); }

  static int64_t SoftLimit() {
    rlimit files = {};
    getrlimit(RLIMIT_NOFILE, &files);
    return static_cast<int64_t>(files.rlim_cur);
  }
  void Lower(rlim_t soft) {
    const rlimit files = {soft, files_.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  }

  rlimit files_ = {};  // those of the process, for the tests after this one
};

TEST_F(OpenFilesTest, TheSoftLimitRisesToWhatIsWanted) {
  Lower(100);
  EXPECT_EQ(RaiseOpenFiles(200), 200);
  EXPECT_EQ(SoftLimit(), 200);
}

TEST_F(OpenFilesTest, AHigherLimitStays) {
  Lower(100);
  EXPECT_EQ(RaiseOpenFiles(50), 100);
  EXPECT_EQ(SoftLimit(), 100);
}

TEST_F(OpenFilesTest, TheHardLimitIsTheMost) {
  Lower(100);
  const auto hard = static_cast<int64_t>(files_.rlim_max);
  EXPECT_EQ(RaiseOpenFiles(hard + 1), hard);
  EXPECT_EQ(SoftLimit(), hard);
}

}  // namespace
}  // namespace meshwright::base
