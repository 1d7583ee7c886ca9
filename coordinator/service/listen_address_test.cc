#include "coordinator/service/listen_address.h"

#include <gtest/gtest.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"

namespace meshwright::service {
namespace {

TEST(ListenAddressTest, ASocketThatAnswersIsAnothersOneLeftBehindIsNot) {
  const std::string path = absl::StrCat("/tmp/listen_address_", getpid());
  unlink(path.c_str());
  EXPECT_TRUE(CheckListenAddress("unix:" + path).ok());
  sockaddr_un at = {};
  at.sun_family = AF_UNIX;
  std::strncpy(at.sun_path, path.c_str(), sizeof(at.sun_path) - 1);
  const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(listening, reinterpret_cast<const sockaddr*>(&at), sizeof(at)),
            0);
  ASSERT_EQ(listen(listening, 1), 0);
  const absl::Status busy = CheckListenAddress("unix:" + path);
  EXPECT_TRUE(absl::IsAlreadyExists(busy)) << busy;
  close(listening);
  EXPECT_TRUE(CheckListenAddress("unix:" + path).ok());
  unlink(path.c_str());
}

// Its interface may be up a minute later (198.51.100.0/24: of documents).
TEST(ListenAddressTest, AnAddressOfAnotherMachineMayPass) {
  const absl::Status status = CheckListenAddress("198.51.100.7:0");
  EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
  EXPECT_NE(status.message().find("198.51.100.7"), absl::string_view::npos);
}

TEST(ListenAddressTest, ANameServiceThatIsNotUpMayPass) {
  for (const int failure : {EAI_AGAIN, EAI_SYSTEM}) {
    EXPECT_TRUE(absl::IsUnavailable(ExplainLookup("host.example:7", failure)));
  }
  EXPECT_TRUE(
      absl::IsInvalidArgument(ExplainLookup("host.example:7", EAI_NONAME)));
}

TEST(ListenAddressTest, APathThatIsTooLongIsNamed) {
  const absl::Status status =
      CheckListenAddress("unix:/tmp/" + std::string(200, 'x'));
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

TEST(ListenAddressTest, OthersAreToldTheNameOfTheMachineForEveryAddress) {
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof(name) - 1), 0);
  for (const char* address : {"0.0.0.0:7433", "[::]:7433", ":::7433"}) {
    EXPECT_EQ(NameForOthers(address), absl::StrCat(name, ":7433"));
  }
  for (const char* address :
       {"127.0.0.1:0", "[::1]:1", "gpu-7:7433", "unix:/tmp/a", "unix:b"}) {
    EXPECT_EQ(NameForOthers(address), address);
  }
}

}  // namespace
}  // namespace meshwright::service
