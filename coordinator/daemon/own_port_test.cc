#include "coordinator/daemon/own_port.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "absl/strings/str_cat.h"

namespace meshwright::daemon {
namespace {

// The kernel takes connections; the process when the test says so.
class KnockedSocket {
 public:
  KnockedSocket() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(at);
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(listen(socket_, 8), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    address_ = absl::StrCat("127.0.0.1:", ntohs(at.sin_port));
  }
  ~KnockedSocket() { close(socket_); }
  KnockedSocket(const KnockedSocket&) = delete;
  KnockedSocket& operator=(const KnockedSocket&) = delete;

  // Takes one connection and ends it.
  void Answer() const { close(accept(socket_, nullptr, nullptr)); }
  const std::string& address() const { return address_; }

 private:
  const int socket_;
  std::string address_;
};

TEST(OwnPortTest, APortThatEndsTheConnectionAnswers) {
  const KnockedSocket listening;
  const std::jthread server([&] { listening.Answer(); });
  const absl::Status knocked =
      OwnPort(listening.address()).Knock(absl::Seconds(30));
  EXPECT_TRUE(knocked.ok()) << knocked;
}

TEST(OwnPortTest, AConnectionThatOnlyTheKernelTakesIsNoAnswer) {
  const KnockedSocket listening;
  const absl::Status knocked =
      OwnPort(listening.address()).Knock(absl::Milliseconds(50));
  EXPECT_TRUE(absl::IsDeadlineExceeded(knocked)) << knocked;
}

TEST(OwnPortTest, WhereNobodyListensThereIsNoAnswer) {
  std::string address;
  {
    const KnockedSocket listening;
    address = listening.address();
  }
  for (const std::string& nobody :
       {address, std::string("unix:/nowhere/socket"), std::string("nowhere")}) {
    EXPECT_FALSE(OwnPort(nobody).Knock(absl::Seconds(30)).ok()) << nobody;
  }
}

TEST(OwnPortTest, OnlyAPortThatAnsweredIsDeafUntilItAnswersAgain) {
  const absl::Status silence = absl::DeadlineExceededError("nobody");
  OwnPort port("127.0.0.1:1");
  port.Note(silence);
  EXPECT_FALSE(port.is_deaf());
  port.Note(absl::OkStatus());
  EXPECT_FALSE(port.is_deaf());
  port.Note(silence);
  EXPECT_TRUE(port.is_deaf());
  port.Note(absl::OkStatus());
  EXPECT_FALSE(port.is_deaf());
}

}  // namespace
}  // namespace meshwright::daemon
