#include "tests/golden/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/file.h"

namespace meshwright {

void ExpectGolden(const std::string& path, const std::string& table) {
  if (std::getenv("MESHWRIGHT_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(base::WriteFile(path, table).ok());
  }
  const auto expected = base::ReadFile(path);
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(table, *expected);
}

std::string LostStrategies(const segmenter::StrategySet& set) {
  std::string text;
  for (const segmenter::LostStrategy& lost : set.lost) {
    absl::StrAppend(&text, "; no ", segmenter::NameStrategy(lost.kind), ": ",
                    lost.reason);
  }
  return text;
}

}  // namespace meshwright
