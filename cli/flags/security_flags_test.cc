#include "cli/flags/security_flags.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>
#include <vector>

namespace meshwright::cli {
namespace {

TEST(SecurityFlagsTest, FlagsAreWrittenAsTheyWereGiven) {
  base::ChannelSecurity flags;
  EXPECT_EQ(WriteAddressFlags("a:1", flags), " --coordinator a:1");
  flags.ca_file = "our ca.pem";
  flags.token_file = "token";
  EXPECT_EQ(WriteAddressFlags("unix:my socket", flags),
            " --coordinator 'unix:my socket' --ca 'our ca.pem' "
            "--token-file token");
  flags = {};
  flags.insecure = true;
  EXPECT_EQ(WriteAddressFlags("a:1", flags), " --coordinator a:1 --insecure");
}

// Of a verb in a program, as all verbs are.
std::string ParseAddress(std::vector<std::string> words) {
  CLI::App app;
  std::string address;
  base::ChannelSecurity security;
  AddAddressFlags(*app.add_subcommand("verb", "it asks"), &address, &security);
  words.push_back("verb");  // CLI11 takes words from the back
  app.parse(words);
  return address;
}

TEST(SecurityFlagsTest, TheEnvironmentNamesTheCoordinatorAndAFlagWins) {
  unsetenv("MESHWRIGHT_ADDRESS");
  EXPECT_EQ(ParseAddress({}), kDefaultAddress);
  setenv("MESHWRIGHT_ADDRESS", "unix:ours", 1);
  EXPECT_EQ(ParseAddress({}), "unix:ours");
  EXPECT_EQ(ParseAddress({"a:1", "--coordinator"}), "a:1");
  setenv("MESHWRIGHT_ADDRESS", "", 1);
  EXPECT_EQ(ParseAddress({}), kDefaultAddress);
  unsetenv("MESHWRIGHT_ADDRESS");
}

}  // namespace
}  // namespace meshwright::cli
