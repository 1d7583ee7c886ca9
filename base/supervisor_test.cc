#include "base/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"

namespace meshwright::base {
namespace {

using testing::StartsWith;

// The manager's end of the socket.
class SupervisorTest : public testing::Test {
 protected:
  void Listen(const std::string& path) {
    socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    if (path[0] == '@') address.sun_path[0] = '\0';
    ASSERT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address),
                   offsetof(sockaddr_un, sun_path) + path.size()),
              0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  // Empty: nothing was sent.
  std::string Heard() const {
    char text[4096];
    const ssize_t size = recv(socket_, text, sizeof(text), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text, static_cast<size_t>(size));
  }
  void TearDown() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"})
      unsetenv(name);
    if (socket_ >= 0) close(socket_);
    unlink(path_.c_str());
  }

  const std::string path_ =
      absl::StrCat(testing::TempDir(), "/supervisor_test.", getpid());
  int socket_ = -1;
};

TEST_F(SupervisorTest, HearsEachTurnOfALife) {
  Listen(path_);
  const Supervisor supervisor;
  supervisor.Ready("listening on\nx:1");
  EXPECT_EQ(Heard(), "READY=1\nSTATUS=listening on x:1");
  supervisor.Reloading();
  EXPECT_THAT(Heard(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  supervisor.Stopping("draining");
  EXPECT_EQ(Heard(), "STOPPING=1\nSTATUS=draining");
  supervisor.Alive();  // nobody watches
  EXPECT_EQ(Heard(), "");
  EXPECT_EQ(supervisor.watchdog(), std::nullopt);
}

TEST_F(SupervisorTest, AnAbstractSocketIsOneToo) {
  Listen(absl::StrCat("@supervisor_test.", getpid()));
  Supervisor().Ready("ok");
  EXPECT_EQ(Heard(), "READY=1\nSTATUS=ok");
}

TEST_F(SupervisorTest, IsNotifiedThatAWatchedProcessLives) {
  Listen(path_);
  setenv("WATCHDOG_USEC", "30000000", 1);
  setenv("WATCHDOG_PID", absl::StrCat(getpid()).c_str(), 1);
  const Supervisor watched;
  EXPECT_EQ(watched.watchdog(), absl::Seconds(30));
  watched.Alive();
  EXPECT_EQ(Heard(), "WATCHDOG=1");
  setenv("WATCHDOG_PID", "1", 1);  // of another process
  Supervisor().Alive();
  EXPECT_EQ(Heard(), "");
}

TEST_F(SupervisorTest, WithoutOneNothingHappens) {
  for (const char* path : {"", "relative", "/nonexistent/socket"}) {
    setenv("NOTIFY_SOCKET", path, 1);
    Supervisor().Ready("ok");
    Supervisor().Alive();
  }
  setenv("NOTIFY_SOCKET", std::string(500, '/').c_str(), 1);
  Supervisor().Stopping("ok");
}

// A manager that does not read holds nobody up.
TEST_F(SupervisorTest, AFullSocketIsNotWaitedFor) {
  Listen(path_);
  setenv("WATCHDOG_USEC", "1", 1);
  const Supervisor supervisor;
  for (int i = 0; i < 100'000; ++i) supervisor.Alive();
  EXPECT_EQ(Heard(), "WATCHDOG=1");
}

}  // namespace
}  // namespace meshwright::base
