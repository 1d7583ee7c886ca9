#include "coordinator/http/tls_context.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"

namespace meshwright::http {
namespace {

class TlsContextTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = testing::TempDir() + "/tls_context_test";
    listening_.certificate_file = path + ".pem";
    listening_.key_file = path + ".key";
    listening_.reload_seconds = 0;
    MakeCertificate();
  }
  // In place of the one before.
  void MakeCertificate() const {
    const std::string command = absl::StrCat(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 "
        "-nodes -days 2 -subj /CN=localhost -keyout ",
        listening_.key_file, " -out ", listening_.certificate_file,
        " >/dev/null 2>&1");
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  security::Listening listening_;
};

TEST_F(TlsContextTest, AChangedCertificateIsRead) {
  const auto tls = TlsContext::Load(listening_);
  ASSERT_TRUE(tls.ok()) << tls.status();
  const TlsContext::Context first = (*tls)->Current();
  EXPECT_TRUE((*tls)->Current() == first);
  MakeCertificate();
  const TlsContext::Context second = (*tls)->Current();
  EXPECT_FALSE(second == first);
  EXPECT_TRUE((*tls)->Current() == second);
}

TEST_F(TlsContextTest, ACertificateThatCouldNotBeReadIsReadLater) {
  const auto tls = TlsContext::Load(listening_);
  ASSERT_TRUE(tls.ok()) << tls.status();
  const TlsContext::Context first = (*tls)->Current();
  MakeCertificate();
  rlimit usual = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const TlsContext::Context meanwhile = (*tls)->Current();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_TRUE(meanwhile == first);
  EXPECT_FALSE((*tls)->Current() == first);
}

}  // namespace
}  // namespace meshwright::http
