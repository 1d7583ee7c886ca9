#include "cli/slurm/self_signed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

X509* Parse(const std::string& certificate) {
  BIO* const memory =
      BIO_new_mem_buf(certificate.data(), static_cast<int>(certificate.size()));
  X509* const parsed = PEM_read_bio_X509(memory, nullptr, nullptr, nullptr);
  BIO_free(memory);
  return parsed;
}

TEST(SelfSignedTest, NamesItsHostAndIsItsOwnAuthority) {
  const auto made = MakeSelfSigned("gpu3.cluster", absl::Hours(1));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(made->key, HasSubstr("PRIVATE KEY"));
  X509* const certificate = Parse(made->certificate);
  ASSERT_NE(certificate, nullptr);
  EXPECT_EQ(X509_check_host(certificate, "gpu3.cluster", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_host(certificate, "gpu4.cluster", 0, 0, nullptr), 0);
  EXPECT_EQ(X509_verify(certificate, X509_get0_pubkey(certificate)), 1);
  EXPECT_EQ(X509_check_ca(certificate), 1);
  X509_free(certificate);
}

TEST(SelfSignedTest, AnAddressIsNoName) {
  for (const std::string host : {"10.0.0.3", "fd00::3"}) {
    const auto made = MakeSelfSigned(host, absl::Hours(1));
    ASSERT_TRUE(made.ok()) << made.status();
    X509* const certificate = Parse(made->certificate);
    EXPECT_EQ(X509_check_ip_asc(certificate, host.c_str(), 0), 1) << host;
    X509_free(certificate);
  }
}

TEST(SelfSignedTest, NoTwoAreAlike) {
  const auto one = MakeSelfSigned("a", absl::Hours(1));
  const auto other = MakeSelfSigned("a", absl::Hours(1));
  EXPECT_NE(one->key, other->key);
  EXPECT_NE(one->certificate, other->certificate);
}

}  // namespace
}  // namespace meshwright::cli
