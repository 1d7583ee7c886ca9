#include "coordinator/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/http/testing/ask_http.h"

namespace meshwright::http {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kGet[] = "GET /figures?of=all HTTP/1.1\r\nHost: x\r\n\r\n";

class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override { Start({.address = "127.0.0.1:0"}); }
  void Start(const HttpServer::Options& options) {
    server_.reset();
    auto started = HttpServer::Start(options, [this](const Request& request) {
      ++made_;
      asked_ = request;
      return Response{.body = body_, .headers = {{"X-Made", "here"}}};
    });
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
  }
  std::string Ask(const std::string& request) {
    return AskHttp(server_->address(), request);
  }
  int Connect() {
    const int connection = ConnectHttp(server_->address());
    EXPECT_GE(connection, 0);
    return connection;
  }

  // Read when the server is gone, or has answered.
  int made_ = 0;
  Request asked_;
  std::string body_ = "figure 1\n";
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersEachRequestAnew) {
  const std::string answer = Ask(kGet);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr("X-Made: here\r\n"));
  EXPECT_THAT(answer, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nfigure 1\n"));
  EXPECT_THAT(Ask(kGet), EndsWith("\r\n\r\nfigure 1\n"));
  server_.reset();
  EXPECT_EQ(made_, 2);
}

TEST_F(HttpServerTest, TheAnswerSeesTheRequest) {
  Ask("GET /a/../b?x=%2e&y HTTP/1.1\r\nHost: there:1\r\n"
      "Authorization: Bearer t\r\nIf-None-Match: \"e\"\r\n\r\n");
  server_.reset();
  EXPECT_EQ(asked_.path, "/a/../b");
  EXPECT_EQ(asked_.query, "x=%2e&y");
  EXPECT_EQ(asked_.host, "there:1");
  EXPECT_EQ(asked_.authorization, "Bearer t");
  EXPECT_EQ(asked_.if_none_match, "\"e\"");
  EXPECT_EQ(asked_.certificate, "");
  EXPECT_THAT(asked_.peer, StartsWith("127.0.0.1:"));
}

TEST_F(HttpServerTest, HeadIsTheAnswerWithoutItsBody) {
  const std::string head = Ask("HEAD / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Length: 9\r\n"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
}

TEST_F(HttpServerTest, RefusesWhatItHasNoUseFor) {
  const std::string refused = Ask("DELETE / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(refused, HasSubstr("Allow: GET, HEAD\r\n"));
  EXPECT_THAT(Ask("POST / HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nContent-Length: 9\r\n\r\n123456789"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(Ask("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "5\r\nhello\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(
      Ask("GET / HTTP/1.1\r\nX: " + std::string(20000, 'x') + "\r\n\r\n"),
      StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(Ask("GET /" + std::string(20000, 'x') + " HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(Ask("no HTTP at all\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Ask(std::string(100, '\0')), StartsWith("HTTP/1.1 400"));
  server_.reset();
  EXPECT_EQ(made_, 0);
}

TEST_F(HttpServerTest, KeepsConnectionsWhereItIsToldTo) {
  Start({.address = "127.0.0.1:0", .keeps_connections = true});
  // Two requests in one write, the second of which is the last.
  const std::string answers =
      Ask(absl::StrCat(kGet, "GET /2 HTTP/1.1\r\nConnection: close\r\n\r\n"));
  EXPECT_THAT(answers, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answers, EndsWith("\r\n\r\nfigure 1\n"));
  server_.reset();
  EXPECT_EQ(made_, 2);
  EXPECT_EQ(asked_.path, "/2");
}

TEST_F(HttpServerTest, HeldConnectionsAreFewAndEndWithIt) {
  std::vector<int> held;
  for (int i = 0; i < HttpServer::Options().max_connections; ++i) {
    held.push_back(Connect());
  }
  EXPECT_EQ(Ask(kGet), "");
  close(held.back());
  held.pop_back();
  // Until it has seen that one is gone.
  while (Ask(kGet).empty()) {
  }
  server_.reset();
  for (const int connection : held) {
    char byte = 0;
    EXPECT_LE(read(connection, &byte, 1), 0);
    close(connection);
  }
}

TEST_F(HttpServerTest, ThoseWhoDoNotAskOrDoNotReadAreClosed) {
  body_ = std::string(64 << 20, 'x');  // more than the kernel holds for anyone
  Start({.address = "127.0.0.1:0",
         .max_connections = 2,
         .patience = absl::Milliseconds(50)});
  const int silent = Connect();
  const std::string begun = "GET / HTTP/1.1\r\nX: ";
  ASSERT_EQ(send(silent, begun.data(), begun.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(begun.size()));
  const int deaf = Connect();
  ASSERT_EQ(send(deaf, kGet, sizeof(kGet) - 1, MSG_NOSIGNAL),
            static_cast<ssize_t>(sizeof(kGet) - 1));
  // Both places are taken until their patience is over.
  std::string answer;
  while ((answer = Ask(kGet)).empty()) {
  }
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  close(silent);
  close(deaf);
}

TEST_F(HttpServerTest, RefusesAddressesThatAreNone) {
  for (const char* address : {"", "here", "127.0.0.1:", "127.0.0.1:99999",
                              "unix:/tmp/x", "127.0.0.1:1,0.0.0.0:2"}) {
    const auto refused = HttpServer::Start({.address = address}, nullptr);
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument)
        << address << ": " << refused.status();
  }
  EXPECT_EQ(HttpServer::Start({.address = server_->address()}, nullptr)
                .status()
                .code(),
            absl::StatusCode::kAlreadyExists);
  const auto local = HttpServer::Start({.address = "localhost:0"}, nullptr);
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_THAT((*local)->address(), StartsWith("localhost:"));
}

TEST_F(HttpServerTest, RefusesACertificateThatIsNone) {
  HttpServer::Options options{.address = "127.0.0.1:0"};
  options.security.certificate_file = "tests/testdata/README.md";
  options.security.key_file = "tests/testdata/README.md";
  const auto refused = HttpServer::Start(options, nullptr);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(), HasSubstr("README.md for TLS"));
}

}  // namespace
}  // namespace meshwright::http
