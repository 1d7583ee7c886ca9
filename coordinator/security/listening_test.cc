#include "coordinator/security/listening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"

namespace meshwright::security {
namespace {

using testing::HasSubstr;

std::string Pem(const std::string& name, const std::string& what,
                mode_t mode = 0600) {
  std::string path = testing::TempDir() + "/listening_test_" + name;
  EXPECT_TRUE(base::WriteFile(path, "-----BEGIN " + what + "-----\n").ok());
  EXPECT_EQ(chmod(path.c_str(), mode), 0);
  return path;
}

std::string Refusal(const std::string& address, const Listening& listening) {
  const absl::Status status = CheckListening(address, listening);
  EXPECT_FALSE(status.ok());
  return std::string(status.message());
}

Listening Tls() {
  Listening listening;
  listening.certificate_file = Pem("cert", "CERTIFICATE");
  listening.key_file = Pem("key", "PRIVATE KEY");
  return listening;
}

TEST(ListeningTest, BeyondThisMachineOnlyWithTlsOrWhenAsked) {
  for (const char* address : {"127.0.0.1:0", "unix:/run/x", "localhost:1"}) {
    EXPECT_TRUE(CheckListening(address, {}).ok()) << address;
  }
  for (const char* address : {"0.0.0.0:0", "[::]:1", "host:1"}) {
    EXPECT_THAT(Refusal(address, {}), HasSubstr("--tls-cert")) << address;
    EXPECT_TRUE(CheckListening(address, {.insecure = true}).ok());
    EXPECT_TRUE(CheckListening(address, Tls()).ok());
  }
}

TEST(ListeningTest, NoTokenGoesInTheClear) {
  EXPECT_THAT(
      Refusal("host:1", {.insecure = true, .token_file = "tokens.toml"}),
      HasSubstr("in the clear"));
  EXPECT_TRUE(
      CheckListening("localhost:1", {.token_file = "tokens.toml"}).ok());
}

TEST(ListeningTest, TlsAloneBeyondThisMachineIsWarnedOf) {
  Listening listening = Tls();
  EXPECT_THAT(WarnOfListening("0.0.0.0:1", listening),
              HasSubstr("reaches 0.0.0.0:1 may do everything"));
  listening.client_ca_file = Pem("ca", "CERTIFICATE");
  EXPECT_THAT(WarnOfListening("host:1", listening),
              HasSubstr("with a certificate of its CA may do everything"));
  EXPECT_EQ(WarnOfListening("127.0.0.1:1", listening), "");
  listening.token_file = "tokens.toml";
  EXPECT_EQ(WarnOfListening("host:1", listening), "");
  EXPECT_EQ(WarnOfListening("host:1", {.insecure = true}), "");
}

TEST(ListeningTest, FilesThatCannotServe) {
  Listening listening = Tls();
  listening.key_file = "";
  EXPECT_THAT(Refusal("host:1", listening), HasSubstr("--tls-key"));
  listening.key_file = Pem("open_key", "PRIVATE KEY", 0644);
  EXPECT_THAT(Refusal("host:1", listening), HasSubstr("chmod 600"));
  listening = Tls();
  std::swap(listening.certificate_file, listening.key_file);
  EXPECT_THAT(Refusal("host:1", listening), HasSubstr("no CERTIFICATE"));
  listening = Tls();
  listening.client_ca_file = "/nowhere/ca";
  EXPECT_THAT(Refusal("host:1", listening), HasSubstr("/nowhere/ca"));
  EXPECT_THAT(Refusal("localhost:1", {.client_ca_file = "ca"}),
              HasSubstr("--tls-cert"));
}

}  // namespace
}  // namespace meshwright::security
