#include "base/rpc/health_port.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace meshwright::base {
namespace {

// The answers of grpc.health.v1.HealthCheckResponse, as bytes.
constexpr char kServing[] = "\x08\x01";
constexpr char kNotServing[] = "\x08\x02";

class HealthPortTest : public testing::Test {
 protected:
  void Start(const HealthPort::Options& options) {
    auto started = HealthPort::Start("127.0.0.1:0", options);
    ASSERT_TRUE(started.ok()) << started.status();
    health_ = *std::move(started);
    channel_ = grpc::CreateChannel(health_->address(),
                                   grpc::InsecureChannelCredentials());
  }

  // The bytes of the answer, or the status code's number.
  std::string Call(const std::string& path, const std::string& service) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    std::string bytes;
    if (!service.empty()) {
      bytes = std::string("\x0a") + static_cast<char>(service.size()) + service;
    }
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer request(&slice, 1);
    grpc::ByteBuffer response;
    std::promise<grpc::Status> ended;
    stub.UnaryCall(&context, path, {}, &request, &response,
                   [&](grpc::Status status) { ended.set_value(status); });
    const grpc::Status status = ended.get_future().get();
    if (!status.ok()) return std::to_string(status.error_code());
    std::vector<grpc::Slice> slices;
    EXPECT_TRUE(response.Dump(&slices).ok());
    std::string said;
    for (const grpc::Slice& part : slices) {
      said.append(reinterpret_cast<const char*>(part.begin()), part.size());
    }
    return said;
  }
  std::string Check(const std::string& service) {
    return Call("/grpc.health.v1.Health/Check", service);
  }

  std::unique_ptr<HealthPort> health_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(HealthPortTest, ReadyIsWhatItWasToldAndOthersAreUnknown) {
  Start({});
  EXPECT_EQ(Check(""), kNotServing);
  EXPECT_EQ(Check("liveness"), kServing);
  health_->SetReady(true);
  EXPECT_EQ(Check(""), kServing);
  health_->SetReady(false);
  EXPECT_EQ(Check(""), kNotServing);
  EXPECT_EQ(Check("else"), std::to_string(grpc::StatusCode::NOT_FOUND));
  EXPECT_EQ(Call("/meshwright.v1.Plans/List", ""),
            std::to_string(grpc::StatusCode::UNIMPLEMENTED));
}

TEST_F(HealthPortTest, OneThatHangsIsNotLiveUntilItGoesOn) {
  Start({.look = absl::Milliseconds(5), .patience_looks = 3});
  while (Check("liveness") != kNotServing) continue;
  do health_->Alive();
  while (Check("liveness") != kServing);
}

TEST_F(HealthPortTest, APortInUseAndAnAddressThatIsNone) {
  Start({});
  EXPECT_EQ(HealthPort::Start(health_->address(), {}).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(HealthPort::Start("nowhere", {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace meshwright::base
