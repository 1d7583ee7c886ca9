#include "cli/flags/security_flags.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

TEST(SecurityFlagsTest, FlagsAreWrittenAsTheyWereGiven) {
  base::ChannelSecurity flags;
  EXPECT_EQ(WriteClientSecurityFlags(flags), "");
  flags.ca_file = "our ca.pem";
  flags.token_file = "token";
  EXPECT_EQ(WriteClientSecurityFlags(flags),
            " --ca 'our ca.pem' --token-file token");
  flags = {};
  flags.insecure = true;
  EXPECT_EQ(WriteClientSecurityFlags(flags), " --insecure");
}

}  // namespace
}  // namespace meshwright::cli
