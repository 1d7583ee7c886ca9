#include "base/rpc/local_address.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace meshwright::base {
namespace {

TEST(LocalAddressTest, OthersAreToldTheNameOfTheMachineForEveryAddress) {
  const std::string name = ReadHostName();
  for (const char* address : {"0.0.0.0:7433", "[::]:7433", ":::7433"}) {
    EXPECT_EQ(NameForOthers(address), absl::StrCat(name, ":7433"));
  }
  for (const char* address :
       {"127.0.0.1:0", "[::1]:1", "gpu-7:7433", "unix:/tmp/a", "unix:b"}) {
    EXPECT_EQ(NameForOthers(address), address);
  }
}

}  // namespace
}  // namespace meshwright::base
