#include "coordinator/plans/outgoing_files.h"

#include <gtest/gtest.h>

namespace meshwright::plans {
namespace {

TEST(OutgoingFilesTest, PiecesAreTheFilesOneBehindTheOther) {
  const auto made =
      OutgoingFiles::Make({{"a/x", "12345"}, {"none", ""}, {"b", "678"}});
  ASSERT_TRUE(made.ok()) << made.status();
  OutgoingFiles& files = **made;
  std::string all;
  while (true) {
    const std::string piece = *files.Read(2);
    if (piece.empty()) break;
    EXPECT_LE(piece.size(), 2u);
    all += piece;
  }
  EXPECT_EQ(all, "12345678");
  EXPECT_EQ(*files.Read(2), "");
  ASSERT_EQ(files.report().files_size(), 3);
  EXPECT_EQ(files.report().files(0).name(), "a/x");
  EXPECT_EQ(files.report().files(0).bytes(), 5);
  EXPECT_EQ(files.report().files(1).bytes(), 0);
}

TEST(OutgoingFilesTest, NoFileIsNoPiece) {
  const auto none = OutgoingFiles::Make({});
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(*(*none)->Read(2), "");
  EXPECT_EQ((*none)->report().files_size(), 0);
}

}  // namespace
}  // namespace meshwright::plans
