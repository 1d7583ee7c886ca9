#include "base/rpc/channel.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "base/rpc/local_address.h"

namespace meshwright::base {
namespace {

using testing::HasSubstr;

std::string FileWith(const std::string& content, mode_t mode) {
  std::string path = testing::TempDir() + "/channel_test_token";
  EXPECT_TRUE(WriteFile(path, content).ok());
  EXPECT_EQ(chmod(path.c_str(), mode), 0);
  return path;
}

std::string Refusal(const std::string& address,
                    const ChannelSecurity& security) {
  const auto channel = OpenChannel(address, security);
  EXPECT_FALSE(channel.ok());
  return std::string(channel.status().message());
}

TEST(ChannelTest, WhatIsOfThisMachine) {
  for (const char* address : {"unix:/run/x", "unix-abstract:x", "localhost:1",
                              "127.0.0.1:0", "[::1]:7433"}) {
    EXPECT_TRUE(IsLocalAddress(address)) << address;
  }
  for (const char* address :
       {"0.0.0.0:1", "[::]:1", "host:1", "127.0.0.1.example.org:1",
        "localhost.example.org:1", ":1", ""}) {
    EXPECT_FALSE(IsLocalAddress(address)) << address;
  }
}

TEST(ChannelTest, APortAloneIsOneOfThisMachine) {
  EXPECT_EQ(CompleteAddress("9464"), "127.0.0.1:9464");
  EXPECT_EQ(CompleteAddress("0.0.0.0:9464"), "0.0.0.0:9464");
  EXPECT_EQ(CompleteAddress(""), "");
}

TEST(ChannelTest, BeyondThisMachineNothingGoesInTheClearUnasked) {
  EXPECT_THAT(Refusal("host:1", {}), HasSubstr("--insecure"));
  EXPECT_TRUE(OpenChannel("host:1", {.insecure = true}).ok());
  EXPECT_TRUE(OpenChannel("localhost:1", {}).ok());
}

TEST(ChannelTest, FilesThatAreMissingOrOpenToOthers) {
  EXPECT_THAT(Refusal("host:1", {.ca_file = "/nowhere/ca"}),
              HasSubstr("/nowhere/ca"));
  EXPECT_THAT(Refusal("host:1", {.ca_file = "ca", .certificate_file = "c"}),
              HasSubstr("--key"));
  EXPECT_THAT(
      Refusal("localhost:1", {.certificate_file = "c", .key_file = "k"}),
      HasSubstr("--ca"));
  const std::string open = FileWith("secret\n", 0640);
  const std::string refusal = Refusal("localhost:1", {.token_file = open});
  EXPECT_THAT(refusal, HasSubstr("chmod 600"));
  EXPECT_THAT(refusal, testing::Not(HasSubstr("secret")));
}

TEST(ChannelTest, RootLendsAFileByItsGroup) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to give a file away";
  const std::string lent = FileWith("secret\n", 0440);
  EXPECT_FALSE(CheckPrivate(lent).ok());
  ASSERT_EQ(seteuid(65534), 0);
  const absl::Status to_a_user = CheckPrivate(lent);
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_TRUE(to_a_user.ok()) << to_a_user;
  ASSERT_EQ(chmod(lent.c_str(), 0444), 0);
  ASSERT_EQ(seteuid(65534), 0);
  const absl::Status to_all = CheckPrivate(lent);
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_THAT(std::string(to_all.message()), HasSubstr("chmod 600"));
}

TEST(ChannelTest, TheFirstLineOfAFileIsTheToken) {
  EXPECT_EQ(*ReadToken({.token_file = FileWith(" secret \nrest\n", 0600),
                        .token = "other"}),
            "secret");
  EXPECT_EQ(*ReadToken({.token = "other"}), "other");
  EXPECT_EQ(*ReadToken({}), "");
  EXPECT_THAT(
      std::string(
          ReadToken({.token_file = FileWith("\n", 0600)}).status().message()),
      HasSubstr("tokens create"));
}

TEST(ChannelTest, TheEnvironmentFillsWhatFlagsLeaveOpen) {
  setenv("MESHWRIGHT_CA", "env.pem", 1);
  setenv("MESHWRIGHT_TOKEN", "env", 1);
  EXPECT_EQ(WithEnvironment({}).ca_file, "env.pem");
  EXPECT_EQ(WithEnvironment({}).token, "env");
  EXPECT_EQ(WithEnvironment({.ca_file = "flag.pem"}).ca_file, "flag.pem");
  unsetenv("MESHWRIGHT_CA");
  unsetenv("MESHWRIGHT_TOKEN");
}

}  // namespace
}  // namespace meshwright::base
