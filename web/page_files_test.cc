#include "web/page_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace meshwright::web {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(PageFiles, HoldsEachFileAsItIsInTheTree) {
  EXPECT_EQ(GetPageFile("style.css"), *base::ReadFile("web/style.css"));
}

// Its licence asks for the notice in every copy.
TEST(PageFiles, HoldsTheChartLibraryWithItsNotice) {
  EXPECT_THAT(GetPageFile("d3.min.js"), StartsWith("// https://d3js.org v5"));
  EXPECT_THAT(GetPageFile("d3.min.js").substr(0, 200), HasSubstr("Copyright"));
}

// A page holds scripts and styles inline, so none may end its element.
TEST(PageFiles, HaveNoEndOfTheElementThatHoldsThem) {
  for (const PageFile& file : ListPageFiles()) {
    if (file.name.ends_with(".js") || file.name.ends_with(".css")) {
      EXPECT_EQ(file.text.find("</s"), std::string_view::npos) << file.name;
    }
  }
}

TEST(PageFiles, EndsTheProgramForAnUnknownName) {
  EXPECT_DEATH(GetPageFile("none.css"), "no page has a file none.css");
}

}  // namespace
}  // namespace meshwright::web
