#include "cli/flags/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ArgumentsTest, Sizes) {
  EXPECT_EQ(*ParseBytes("4096"), 4096);
  EXPECT_EQ(*ParseBytes("16GiB"), int64_t{16} << 30);
  EXPECT_EQ(*ParseBytes("16 GB"), 16'000'000'000);
  EXPECT_EQ(*ParseBytes("1.5k"), 1536);
  EXPECT_EQ(*ParseBytes("2tib"), int64_t{2} << 40);
  // To the byte, also where a double is not.
  EXPECT_EQ(*ParseBytes("9007199254740995"), 9007199254740995);
  EXPECT_EQ(*ParseBytes("4611686018427386879"), 4611686018427386879);
  EXPECT_EQ(*ParseBytes("8796093022209KiB"), int64_t{8796093022209} << 10);
}

TEST(ArgumentsTest, WhatIsNoSizeIsQuoted) {
  for (const char* text : {"", "GiB", "-1GiB", "16GiBs", "1e9", "0x10", "0",
                           "1.2.3GiB", "99999999TiB", "nan"}) {
    const auto bytes = ParseBytes(text);
    EXPECT_EQ(bytes.status().code(), absl::StatusCode::kInvalidArgument)
        << text;
    EXPECT_THAT(std::string(bytes.status().message()),
                HasSubstr(std::string("\"") + text + "\""));
  }
}

TEST(ArgumentsTest, DeadlinesAreSecondsFromNow) {
  using std::chrono::steady_clock;
  EXPECT_EQ(ParseDeadline(std::nullopt, {})->at, std::nullopt);
  const auto before = steady_clock::now();
  const auto at_once = ParseDeadline(0, {});
  const auto soon = ParseDeadline(0.25, {});
  const auto after = steady_clock::now();
  ASSERT_TRUE(at_once.ok() && at_once->at.has_value());
  EXPECT_GE(*at_once->at, before);
  EXPECT_LE(*at_once->at, after);
  ASSERT_TRUE(soon.ok() && soon->at.has_value());
  EXPECT_GE(*soon->at, before + std::chrono::milliseconds(250));
  EXPECT_LE(*soon->at, after + std::chrono::milliseconds(250));
  // Longer than anybody waits, or a clock can hold.
  for (const double seconds : {4e7, 1e300}) {
    EXPECT_EQ(ParseDeadline(seconds, {})->at, std::nullopt) << seconds;
  }
  std::stop_source stop;
  const auto stopped = ParseDeadline(1e300, stop.get_token());
  stop.request_stop();
  EXPECT_TRUE(stopped->HasPassed());
}

TEST(ArgumentsTest, WhatIsNoDeadlineIsQuoted) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::pair<double, const char*> wrong[] = {{-1, "-1"},
                                                  {-1e-9, "-1e-09"},
                                                  {std::nan(""), "nan"},
                                                  {kInfinity, "inf"},
                                                  {-kInfinity, "-inf"}};
  for (const auto& [seconds, text] : wrong) {
    const auto deadline = ParseDeadline(seconds, {});
    EXPECT_EQ(deadline.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(deadline.status().message(),
              absl::StrCat("--deadline is ", text,
                           "; give a number of seconds, 0 or more"));
  }
}

TEST(ArgumentsTest, Durations) {
  EXPECT_EQ(FindDuration("90d"), absl::Hours(24 * 90));
  EXPECT_EQ(FindDuration("1h30m"), absl::Minutes(90));
  for (const char* text :
       {"", "d", "0d", "-1h", "soon", "12", "36526d", "inf"}) {
    EXPECT_EQ(FindDuration(text), std::nullopt) << text;
  }
}

TEST(ArgumentsTest, Meshes) {
  EXPECT_THAT(ParseMesh("1x2")->shape(), ElementsAre(1, 2));
  EXPECT_THAT(ParseMesh("8")->shape(), ElementsAre(8));
  EXPECT_EQ(CountDevices(*ParseMesh("64x64")), 4096);
}

TEST(ArgumentsTest, WhatIsNoMeshIsQuoted) {
  for (const char* text :
       {"", "x", "1x", "0x2", "2x-1", "4097", "64x65", "axb", "1 2",
        "99999999999999999999", "4096x4096x4096x4096x4096x4096", "1x2,"}) {
    const auto mesh = ParseMesh(text);
    EXPECT_EQ(mesh.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(mesh.status().message()),
                HasSubstr(std::string("\"") + text + "\""));
  }
}

}  // namespace
}  // namespace meshwright::cli
