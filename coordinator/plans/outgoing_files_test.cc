#include "coordinator/plans/outgoing_files.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace meshwright::plans {
namespace {

TEST(OutgoingFilesTest, TheyLieOneBehindTheOther) {
  const auto made =
      MakeOutgoingFiles({{"a/x", "12345"}, {"none", ""}, {"b", "678"}});
  ASSERT_TRUE(made.ok()) << made.status();
  char read[16] = {};
  EXPECT_EQ(std::fread(read, 1, sizeof(read), made->file.get()), 8u);
  EXPECT_STREQ(read, "12345678");
  const v1::ExportedFiles& report = made->report;
  ASSERT_EQ(report.files_size(), 3);
  EXPECT_EQ(report.files(0).name(), "a/x");
  EXPECT_EQ(report.files(0).bytes(), 5);
  EXPECT_EQ(report.files(1).bytes(), 0);
}

TEST(OutgoingFilesTest, NoFileIsNoBytes) {
  const auto none = MakeOutgoingFiles({});
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(std::fgetc(none->file.get()), EOF);
  EXPECT_EQ(none->report.files_size(), 0);
}

}  // namespace
}  // namespace meshwright::plans
