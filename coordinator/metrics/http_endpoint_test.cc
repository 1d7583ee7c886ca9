#include "coordinator/metrics/http_endpoint.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "coordinator/metrics/testing/read_metrics.h"

namespace meshwright::metrics {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class HttpEndpointTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = HttpEndpoint::Start("127.0.0.1:0", [this] {
      ++made_;
      return std::string("figure 1\n");
    });
    ASSERT_TRUE(started.ok()) << started.status();
    endpoint_ = *std::move(started);
  }
  std::string Ask(const std::string& request) {
    return AskHttp(endpoint_->address(), request);
  }
  // A connection that asks nothing; -1: none.
  int Connect() {
    int port = 0;
    const std::string& address = endpoint_->address();
    EXPECT_TRUE(
        absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
    sockaddr_in there = {};
    there.sin_family = AF_INET;
    there.sin_port = htons(static_cast<uint16_t>(port));
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(connection, reinterpret_cast<const sockaddr*>(&there),
                      sizeof(there)),
              0);
    return connection;
  }

  int made_ = 0;  // read when the endpoint is gone
  std::unique_ptr<HttpEndpoint> endpoint_;
};

TEST_F(HttpEndpointTest, AnswersEachReadingAnew) {
  const std::string answer = Ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nfigure 1\n"));
  EXPECT_EQ(ReadMetrics(endpoint_->address()), "figure 1\n");
  endpoint_.reset();
  EXPECT_EQ(made_, 2);
}

TEST_F(HttpEndpointTest, HasNothingElse) {
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask("GET /metrics/../x HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask("DELETE /metrics HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 405"));
  const std::string head = Ask("HEAD /metrics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Length: 9\r\n"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
}

TEST_F(HttpEndpointTest, BytesThatAreNoRequestEndTheirConnection) {
  EXPECT_EQ(Ask("no HTTP at all\r\n\r\n"), "");
  EXPECT_EQ(Ask(std::string(100, '\0')), "");
  EXPECT_EQ(Ask("GET /metrics HTTP/1.1\r\nX: " + std::string(20000, 'x') +
                "\r\n\r\n"),
            "");
  EXPECT_EQ(Ask("GET /metrics HTTP/1.1\r\nContent-Length: 9\r\n\r\n123456789"),
            "");
  EXPECT_EQ(ReadMetrics(endpoint_->address()), "figure 1\n");
}

TEST_F(HttpEndpointTest, HeldConnectionsAreFewAndEndWithIt) {
  std::vector<int> held;
  for (int i = 0; i < HttpEndpoint::kMaxConnections; ++i) {
    held.push_back(Connect());
  }
  EXPECT_EQ(Ask("GET /metrics HTTP/1.1\r\n\r\n"), "");
  close(held.back());
  held.pop_back();
  // Until it has seen that one is gone.
  while (Ask("GET /metrics HTTP/1.1\r\n\r\n").empty()) {
  }
  endpoint_.reset();
  for (const int connection : held) {
    char byte = 0;
    EXPECT_LE(read(connection, &byte, 1), 0);
    close(connection);
  }
}

TEST_F(HttpEndpointTest, RefusesAddressesThatAreNone) {
  for (const char* address : {"", "here", "127.0.0.1:", "127.0.0.1:99999",
                              "unix:/tmp/x", "127.0.0.1:1,0.0.0.0:2"}) {
    const auto refused = HttpEndpoint::Start(address, nullptr);
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument)
        << address << ": " << refused.status();
  }
  EXPECT_EQ(HttpEndpoint::Start(endpoint_->address(), nullptr).status().code(),
            absl::StatusCode::kAlreadyExists);
  const auto local = HttpEndpoint::Start("localhost:0", nullptr);
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_THAT((*local)->address(), StartsWith("localhost:"));
}

}  // namespace
}  // namespace meshwright::metrics
