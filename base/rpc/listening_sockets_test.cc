#include "base/rpc/listening_sockets.h"

#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace meshwright::base {
namespace {

// Ok: it may be listened at, as it was until this returned.
absl::Status Refusal(const std::string& address) {
  return ListeningSockets::Open(address).status();
}

TEST(ListeningSocketsTest, ASocketThatAnswersIsAnothersOneLeftBehindIsNot) {
  const std::string path = absl::StrCat("/tmp/listen_address_", getpid());
  unlink(path.c_str());
  EXPECT_TRUE(Refusal("unix:" + path).ok());
  sockaddr_un at = {};
  at.sun_family = AF_UNIX;
  std::strncpy(at.sun_path, path.c_str(), sizeof(at.sun_path) - 1);
  const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(listening, reinterpret_cast<const sockaddr*>(&at), sizeof(at)),
            0);
  ASSERT_EQ(listen(listening, 1), 0);
  const absl::Status busy = Refusal("unix:" + path);
  EXPECT_TRUE(absl::IsAlreadyExists(busy)) << busy;
  close(listening);
  EXPECT_TRUE(Refusal("unix:" + path).ok());
  unlink(path.c_str());
}

// Its interface may be up a minute later (198.51.100.0/24: of documents).
TEST(ListeningSocketsTest, AnAddressOfAnotherMachineMayPass) {
  const absl::Status status = Refusal("198.51.100.7:0");
  EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
  EXPECT_NE(status.message().find("198.51.100.7"), absl::string_view::npos);
}

TEST(ListeningSocketsTest, ANameServiceThatIsNotUpMayPass) {
  for (const int failure : {EAI_AGAIN, EAI_SYSTEM}) {
    EXPECT_TRUE(absl::IsUnavailable(ExplainLookup("host.example:7", failure)));
  }
  EXPECT_TRUE(
      absl::IsInvalidArgument(ExplainLookup("host.example:7", EAI_NONAME)));
}

TEST(ListeningSocketsTest, APathThatIsTooLongIsNamed) {
  const absl::Status status = Refusal("unix:/tmp/" + std::string(200, 'x'));
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

TEST(ListeningSocketsTest, AFreePortIsOneOfAllAddressesOfItsHost) {
  const auto sockets = ListeningSockets::Open("localhost:0");
  ASSERT_TRUE(sockets.ok()) << sockets.status();
  ASSERT_FALSE(sockets->sockets().empty());
  EXPECT_NE(sockets->address(), "localhost:0");
  for (const int listening : sockets->sockets()) {
    sockaddr_storage at = {};
    socklen_t size = sizeof(at);
    ASSERT_EQ(getsockname(listening, reinterpret_cast<sockaddr*>(&at), &size),
              0);
    EXPECT_EQ(
        absl::StrCat("localhost:",
                     ntohs(reinterpret_cast<sockaddr_in*>(&at)->sin_port)),
        sockets->address());
    const int client = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&at), size), 0);
    close(client);
  }
}

TEST(ListeningSocketsTest, APortHasOneOwner) {
  const auto first = ListeningSockets::Open("127.0.0.1:0");
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string port = first->address().substr(first->address().rfind(':'));
  for (const char* host : {"127.0.0.1", "0.0.0.0", "localhost"}) {
    const auto second = ListeningSockets::Open(host + port);
    EXPECT_TRUE(absl::IsAlreadyExists(second.status()))
        << host << ": " << second.status();
  }
}

TEST(ListeningSocketsTest, EveryAddressIsReachedByIpv4) {
  const auto sockets = ListeningSockets::Open("0.0.0.0:0");
  ASSERT_TRUE(sockets.ok()) << sockets.status();
  uint32_t port = 0;
  ASSERT_TRUE(absl::SimpleAtoi(
      sockets->address().substr(sockets->address().rfind(':') + 1), &port));
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(static_cast<uint16_t>(port));
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&at), sizeof(at)),
            0);
  close(client);
}

TEST(ListeningSocketsTest, WhatIsNoAddressIsRefused) {
  for (const char* address : {"", "7433", ":7433", "here:", "here:x",
                              "127.0.0.1:65536", "127.0.0.1:-1"}) {
    const absl::Status status = Refusal(address);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << address << ": " << status;
  }
}

}  // namespace
}  // namespace meshwright::base
