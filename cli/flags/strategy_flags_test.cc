#include "cli/flags/strategy_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace meshwright::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(StrategyFlagsTest, AreReadAsTheyAreWritten) {
  CLI::App app;
  StrategyFlags flags;
  std::string model;
  AddStrategyFlags(app, &flags);
  app.add_option("model", model);
  app.parse(
      "--open fully-sharded,sequence --pin 0,4-7=rows|columns "
      "--pin all=fully-sharded --pin-argument 3=[1,-] the_model "
      "--forbid dot.7=contraction --forbid-argument 0=[-]");
  EXPECT_EQ(model, "the_model");
  const auto request = ToStrategyRequest(flags);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_THAT(request->open(), ElementsAre("fully-sharded", "sequence"));
  ASSERT_EQ(request->blocks_size(), 3);
  EXPECT_EQ(request->blocks(0).blocks(), "0,4-7");
  EXPECT_THAT(request->blocks(0).strategies(), ElementsAre("rows", "columns"));
  EXPECT_FALSE(request->blocks(0).forbid());
  EXPECT_EQ(request->blocks(2).blocks(), "dot.7");
  EXPECT_TRUE(request->blocks(2).forbid());
  ASSERT_EQ(request->arguments_size(), 2);
  EXPECT_EQ(request->arguments(0).argument(), 3);
  EXPECT_EQ(request->arguments(0).sharding(), "[1,-]");
  EXPECT_TRUE(request->arguments(1).forbid());
}

TEST(StrategyFlagsTest, ARuleWithoutBothSidesIsRefused) {
  for (const char* text : {"rows", "=rows", "0="}) {
    StrategyFlags flags;
    flags.pin = {text};
    EXPECT_THAT(std::string(ToStrategyRequest(flags).status().message()),
                HasSubstr("write one like 0,4-7=rows"));
  }
  StrategyFlags flags;
  flags.pin_argument = {"x=[1]"};
  EXPECT_THAT(std::string(ToStrategyRequest(flags).status().message()),
              HasSubstr("no number of an argument"));
}

}  // namespace
}  // namespace meshwright::cli
