#include "base/rpc/rpc_status.h"

#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/cord.h"

namespace meshwright::base {
namespace {

TEST(RpcStatusTest, AMessageOfAnyLengthReachesTheClient) {
  EXPECT_EQ(FromRpc(ToRpc(absl::NotFoundError("no plan"))),
            absl::NotFoundError("no plan"));
  std::string name;
  while (name.size() < 100'000) name += "\u00e4";
  const grpc::Status said = ToRpc(absl::NotFoundError("x" + name));
  EXPECT_EQ(said.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(said.error_message(), ("x" + name).substr(0, 4095) + "...");
}

TEST(RpcStatusTest, ThePayloadThatHasContentIsTheDetails) {
  absl::Status status = absl::UnavailableError("elsewhere");
  EXPECT_EQ(ToRpc(status).error_details(), "");
  status.SetPayload("mark", absl::Cord());
  EXPECT_EQ(ToRpc(status).error_details(), "");
  status.SetPayload("address", absl::Cord("a:1"));
  EXPECT_EQ(ToRpc(status).error_details(), "a:1");
  EXPECT_EQ(ToRpc(status).error_message(), "elsewhere");
}

}  // namespace
}  // namespace meshwright::base
