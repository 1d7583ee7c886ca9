#include "cli/text/redraw.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

TEST(RedrawTest, AScreenIsDrawnOverTheOneBefore) {
  EXPECT_EQ(RedrawScreen("a\nb\n"), "\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J");
}

}  // namespace
}  // namespace meshwright::cli
