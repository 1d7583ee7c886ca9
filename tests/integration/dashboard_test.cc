// The dashboard of a real coordinator with TLS, asked by the command openssl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/clock.h"
#include "coordinator/daemon/coordinator.h"
#include "coordinator/http/testing/ask_http.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "tests/integration/certificates.h"
#include "tests/integration/comes_true.h"

namespace meshwright::integration {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class TlsDashboardTest : public testing::Test {
 protected:
  void SetUp() override {
    certificates_.MakeAuthority("ca");
    certificates_.MakeCertificate("ca", "server");
  }
  std::string File(const std::string& name) const {
    return certificates_.File(name);
  }
  void Start(const std::string& client_ca = "") {
    daemon::Coordinator::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.listen_address = "localhost:0";
    dependencies.security.certificate_file = File("server.pem");
    dependencies.security.key_file = File("server.key");
    if (!client_ca.empty()) {
      dependencies.security.client_ca_file = File(client_ca);
    }
    dependencies.dashboard_address = "127.0.0.1:0";
    dependencies.plans = &plans_;
    dependencies.profiles = &profiles_;
    coordinator_ =
        std::make_unique<daemon::Coordinator>(std::move(dependencies));
    const absl::Status status = coordinator_->Start();
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_THAT(coordinator_->dashboard_url(),
                StartsWith("https://127.0.0.1:"));
  }
  std::string Address() const {
    const std::string url = coordinator_->dashboard_url();
    absl::string_view address = url;
    absl::ConsumePrefix(&address, "https://");
    absl::ConsumeSuffix(&address, "/");
    return std::string(address);
  }
  // All that openssl says to one request over TLS.
  std::string Ask(const std::string& authority, const std::string& more = "") {
    const std::string command = absl::StrCat(
        "printf 'GET /api/service HTTP/1.1\\r\\nHost: any.example\\r\\n"
        "Connection: close\\r\\n\\r\\n' | timeout 20 openssl s_client -quiet "
        "-verify_return_error -verify_ip 127.0.0.1 -CAfile ",
        File(authority), " -connect ", Address(), " ", more, " 2>/dev/null");
    FILE* const pipe = popen(command.c_str(), "r");
    std::string said;
    char buffer[4096];
    size_t got = 0;
    while ((got = fread(buffer, 1, sizeof(buffer), pipe)) > 0) {
      said.append(buffer, got);
    }
    pclose(pipe);
    return said;
  }

  base::SystemClock clock_;
  Certificates certificates_{testing::TempDir() + "/dashboard_test"};
  store::MemoryPlanStore plans_;
  store::FakeProfileStore profiles_;
  std::unique_ptr<daemon::Coordinator> coordinator_;
};

TEST_F(TlsDashboardTest, AnswersOverTlsAlone) {
  certificates_.MakeAuthority("other");
  Start();
  EXPECT_THAT(Ask("ca.pem"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(Ask("other.pem"), "");
  EXPECT_THAT(http::AskHttp(Address(), "GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
              Not(HasSubstr("HTTP/1.1 200")));
  EXPECT_EQ(Ask("ca.pem", "-tls1_1"), "");
}

TEST_F(TlsDashboardTest, AClientsCertificateNamesTheCaller) {
  certificates_.MakeCertificate("ca", "launcher");
  certificates_.MakeAuthority("other");
  certificates_.MakeCertificate("other", "stranger");
  Start("ca.pem");
  EXPECT_THAT(Ask("ca.pem"), Not(HasSubstr("HTTP/1.1")));
  EXPECT_THAT(Ask("ca.pem", absl::StrCat("-cert ", File("stranger.pem"),
                                         " -key ", File("stranger.key"))),
              Not(HasSubstr("HTTP/1.1")));
  EXPECT_THAT(Ask("ca.pem", absl::StrCat("-cert ", File("launcher.pem"),
                                         " -key ", File("launcher.key"))),
              HasSubstr("\"caller\":\"certificate:launcher\""));
}

// As a browser does for every connection but its first.
TEST_F(TlsDashboardTest, AClientWithACertificateResumesItsSession) {
  certificates_.MakeCertificate("ca", "launcher");
  Start("ca.pem");
  const std::string own = absl::StrCat("-tls1_2 -cert ", File("launcher.pem"),
                                       " -key ", File("launcher.key"));
  const std::string session = File("session");
  EXPECT_THAT(Ask("ca.pem", absl::StrCat(own, " -sess_out ", session)),
              HasSubstr("\"caller\":\"certificate:launcher\""));
  EXPECT_THAT(Ask("ca.pem", absl::StrCat(own, " -sess_in ", session)),
              HasSubstr("\"caller\":\"certificate:launcher\""));
}

// New connections see the new certificate; nothing is restarted.
TEST_F(TlsDashboardTest, AChangedCertificateIsTakenUp) {
  Start();
  ASSERT_THAT(Ask("ca.pem"), StartsWith("HTTP/1.1 200"));
  certificates_.MakeAuthority("next");
  certificates_.MakeCertificate("next", "server");
  ASSERT_TRUE(ComesTrue([&] { return !Ask("next.pem").empty(); }));
  EXPECT_EQ(Ask("ca.pem"), "");
}

}  // namespace
}  // namespace meshwright::integration
