#include "cli/program/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

// A daemon with a flag of each kind.
struct Daemon {
  Daemon() {
    app.add_option("--listen", listen, "where to listen")
        ->capture_default_str();
    app.add_option("--store", store, "where rows are kept");
    app.add_option("--devices", devices, "how many")
        ->capture_default_str()
        ->check(CLI::Range(1, 64));
    app.add_option("--ratio", ratio, "a share");
    app.add_option("--role", roles, "more than one");
    app.add_option("--owner", owner, "who runs it")->required();
    app.add_flag("--insecure", insecure, "in the clear");
    AddConfigFlags(app, &out);
  }

  // The result of parsing; empty: nothing to object to.
  std::string Parse(std::vector<std::string> arguments) {
    try {
      app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::Success&) {
      return "ended";
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return "";
  }

  CLI::App app{"A daemon.", "daemon"};
  std::ostringstream out;
  std::string listen = "localhost:1";
  std::string store;
  int devices = 8;
  double ratio = 0.5;
  std::vector<std::string> roles;
  std::string owner;
  bool insecure = false;
};

std::string FileWith(const std::string& content) {
  std::string path = testing::TempDir() + "/config_file_test.toml";
  EXPECT_TRUE(base::WriteFile(path, content).ok());
  return path;
}

std::string Refusal(const std::string& content) {
  Daemon daemon;
  return daemon.Parse({"--owner", "me", "--config", FileWith(content)});
}

constexpr char kAll[] = R"(owner = "ann"
listen = "localhost:2"
store = "rows.db"
devices = 4
ratio = 1
role = ["read", "work"]
insecure = true
)";

TEST(ConfigFileTest, EveryKindOfFlagIsAKey) {
  Daemon daemon;
  ASSERT_EQ(daemon.Parse({"--config", FileWith(kAll)}), "");
  EXPECT_EQ(daemon.owner, "ann");
  EXPECT_EQ(daemon.listen, "localhost:2");
  EXPECT_EQ(daemon.store, "rows.db");
  EXPECT_EQ(daemon.devices, 4);
  EXPECT_EQ(daemon.ratio, 1);
  EXPECT_THAT(daemon.roles, testing::ElementsAre("read", "work"));
  EXPECT_TRUE(daemon.insecure);
}

TEST(ConfigFileTest, CountsOrNamesAreAnIntegerOrAString) {
  for (const char* const value : {"4", "\"0,2\""}) {
    std::string chosen;
    CLI::App app{"A daemon.", "daemon"};
    app.add_option("--devices", chosen)->type_name(kCountOrNames);
    AddConfigFlags(app, nullptr);
    std::vector<std::string> arguments = {
        FileWith(std::string("devices = ") + value), "--config"};
    app.parse(std::move(arguments));
    EXPECT_EQ(chosen, value[0] == '4' ? "4" : "0,2");
  }
}

TEST(ConfigFileTest, TheCommandLineWinsOnEitherSide) {
  for (const bool before : {true, false}) {
    Daemon daemon;
    std::vector<std::string> arguments = {"--config", FileWith(kAll)};
    const std::vector<std::string> own = {"--devices", "2", "--insecure=false",
                                          "--role", "admin"};
    arguments.insert(before ? arguments.begin() : arguments.end(), own.begin(),
                     own.end());
    ASSERT_EQ(daemon.Parse(arguments), "");
    EXPECT_EQ(daemon.devices, 2);
    EXPECT_FALSE(daemon.insecure);
    EXPECT_THAT(daemon.roles, testing::ElementsAre("admin"));
    EXPECT_EQ(daemon.store, "rows.db");
  }
}

TEST(ConfigFileTest, MistakesNameFileLineAndKey) {
  const std::string file = testing::TempDir() + "/config_file_test.toml:";
  EXPECT_EQ(Refusal("\nstroe = \"x\"\n"),
            file +
                "2: there is no key \"stroe\"; --print-config lists the "
                "keys");
  EXPECT_EQ(Refusal("store = 7\n"), file + "1: \"store\" needs a string");
  EXPECT_EQ(Refusal("listen = \"a:1\"\ndevices = \"4\"\n"),
            file + "2: \"devices\" needs an integer");
  EXPECT_EQ(Refusal("devices = 4.5\n"),
            file + "1: \"devices\" needs an integer");
  EXPECT_EQ(Refusal("devices = true\n"),
            file + "1: \"devices\" needs an integer");
  EXPECT_EQ(Refusal("ratio = \"half\"\n"),
            file + "1: \"ratio\" needs a number");
  EXPECT_EQ(Refusal("insecure = \"no\"\n"),
            file + "1: \"insecure\" needs true or false");
  EXPECT_EQ(Refusal("role = [\"read\", 7]\n"),
            file + "1: \"role\" needs a string");
  EXPECT_EQ(Refusal("store = [\"a\", \"b\"]\n"),
            file + "1: \"store\" needs a string, not an array");
  EXPECT_EQ(Refusal("[store]\nx = 1\n"), file + "1: \"store\" needs a string");
  EXPECT_THAT(Refusal("\n\ndevices = 65\n"),
              HasSubstr(file + "3: \"devices\" is refused: "));
  EXPECT_THAT(Refusal("\n= 3\n"), HasSubstr(file + "2: it is no TOML: "));
  EXPECT_THAT(Refusal("config = \"other\"\n"), HasSubstr("no key \"config\""));
  Daemon daemon;
  EXPECT_THAT(daemon.Parse({"--config", "/nowhere.toml"}),
              HasSubstr("/nowhere.toml"));
}

// A value that the command line replaces is looked at all the same.
TEST(ConfigFileTest, AMistakeThatIsNotUsedIsOneToo) {
  Daemon daemon;
  EXPECT_THAT(daemon.Parse({"--owner", "me", "--devices", "2", "--config",
                            FileWith("devices = \"many\"\n")}),
              HasSubstr("needs an integer"));
}

TEST(ConfigFileTest, RequiredFlagsMayStandInTheFile) {
  EXPECT_THAT(Daemon().Parse({}), HasSubstr("--owner is required"));
  EXPECT_EQ(Daemon().Parse({"--config", FileWith("owner = \"ann\"\n")}), "");
}

TEST(ConfigFileTest, WhatIsPrintedIsTheFile) {
  Daemon daemon;
  EXPECT_EQ(daemon.Parse({"--print-config", "--devices", "2", "--config",
                          FileWith("ratio = 0.25\nrole = [\"a\\\"b\"]\n")}),
            "ended");
  EXPECT_EQ(daemon.out.str(), R"(# The configuration of daemon.
# A flag on the command line wins over its key here.

# where to listen
listen = "localhost:1"

# where rows are kept
#store = ""

# how many
devices = 2

# a share
ratio = 0.25

# more than one
role = ["a\"b"]

# who runs it
#owner = ""

# in the clear
insecure = false
)");
  // And may be read again.
  Daemon again;
  ASSERT_EQ(
      again.Parse({"--owner", "me", "--config", FileWith(daemon.out.str())}),
      "");
  EXPECT_EQ(again.devices, 2);
  EXPECT_EQ(again.ratio, 0.25);
  EXPECT_THAT(again.roles, testing::ElementsAre("a\"b"));
}

TEST(ConfigFileTest, WhatIsPrintedWasChecked) {
  Daemon daemon;
  EXPECT_THAT(daemon.Parse({"--print-config", "--devices", "65"}),
              HasSubstr("--devices"));
  EXPECT_EQ(daemon.out.str(), "");
}

TEST(ConfigFileTest, APasswordIsNotPrinted) {
  for (const char* url :
       {"postgres://ann:hush@db:5432/rows?sslmode=require",
        "postgres://ann@db/rows?password=hush&sslmode=require",
        "postgresql://ann@db/rows?password=hush"}) {
    Daemon daemon;
    daemon.Parse({"--print-config", "--store", url});
    EXPECT_THAT(daemon.out.str(), HasSubstr("://ann@db"));
    EXPECT_THAT(daemon.out.str(), testing::Not(HasSubstr("hush")));
  }
}

}  // namespace
}  // namespace meshwright::cli
