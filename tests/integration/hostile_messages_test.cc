// Every RPC of a coordinator with hostile bytes, from a client that may do
// everything: messages of wild values, damaged messages and noise.
#include "tests/integration/hostile_messages.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/rpc/channel.h"
#include "base/version.h"
#include "coordinator/security/rpc_roles.h"
#include "coordinator/security/token_file.h"
#include "proto/v1/services.pb.h"
#include "tests/integration/process.h"

namespace meshwright::integration {
namespace {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

constexpr uint64_t kSeed = 23;
constexpr int64_t kMaxGrowth = 32 << 20;

bool IsLong() { return std::getenv("MESHWRIGHT_LONG") != nullptr; }

// Of a worker that is taken.
std::string MakeHello() {
  v1::WorkerMessage message;
  v1::WorkerHello& hello = *message.mutable_hello();
  hello.set_worker_id("hostile");
  hello.set_platform("cpu");
  hello.set_device_count(2);
  hello.mutable_protocols()->set_oldest(base::kOldestWorkerProtocol);
  hello.mutable_protocols()->set_newest(base::kWorkerProtocol);
  return message.SerializeAsString();
}

bool Parses(const MethodDescriptor& method, const std::string& bytes) {
  const std::unique_ptr<Message> message(
      google::protobuf::MessageFactory::generated_factory()
          ->GetPrototype(method.input_type())
          ->New());
  return message->ParseFromString(bytes);
}

class HostileMessagesTest : public testing::Test {
 protected:
  HostileMessagesTest() {
    const std::string folder = testing::TempDir() + "/hostile_messages";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    security::NewToken made = *security::MakeToken();
    made.token.roles = {security::Role::kAdmin};
    made.token.created = base::SystemClock().Now();
    made.token.expires = made.token.created + absl::Hours(24);
    EXPECT_TRUE(
        security::ChangeTokenFile(folder + "/tokens.toml",
                                  [&](std::vector<security::Token>& tokens) {
                                    tokens.push_back(made.token);
                                    return absl::OkStatus();
                                  })
            .ok());
    coordinator_ = std::make_unique<Process>(std::vector<std::string>{
        "meshwright-coordinator", "--json", "--listen", "127.0.0.1:0",
        "--store", folder + "/db", "--tokens", folder + "/tokens.toml"});
    const auto said =
        nlohmann::json::parse(coordinator_->ReadLine(), nullptr, false);
    EXPECT_TRUE(said.is_object());
    if (said.is_object()) address_ = said.value("address", "");
    channel_ = *base::OpenChannel(address_, {.token = made.text});
  }

  // Resident, and in no file.
  int64_t ReadOwnBytes() const {
    std::istringstream status(*base::ReadFile(
        absl::StrCat("/proc/", coordinator_->pid(), "/status")));
    std::string word;
    while (status >> word && word != "RssAnon:") {
    }
    int64_t kib = 0;
    status >> kib;
    return kib * 1024;
  }

  absl::Status Ask() const {
    return SendBytes(channel_, "/meshwright.v1.Plans/List", {""},
                     absl::Seconds(30));
  }

  std::unique_ptr<Process> coordinator_;
  std::string address_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(HostileMessagesTest, EveryRpcAnswersThemClearlyAndKeepsNothing) {
  ASSERT_TRUE(Ask().ok());
  HostileMessages hostile(kSeed);
  const int rounds = IsLong() ? 4000 : 40;
  int64_t warm = 0;
  for (int round = 0; round < rounds; ++round) {
    if (round == rounds / 2) warm = ReadOwnBytes();
    for (const security::RpcRole& row : security::RpcRoles()) {
      const std::string path(row.path);
      const MethodDescriptor* const method = FindMethod(path);
      ASSERT_EQ(method == nullptr, !path.starts_with("/meshwright.")) << path;
      const bool is_stream = IsStream(method);
      std::vector<std::string> messages = hostile.MakeCall(method);
      // Else nobody is heard beyond a wrong Hello.
      if (path.ends_with("/Attach") && hostile.Below(2) == 0) {
        messages.insert(messages.begin(), MakeHello());
      }
      const absl::Status status =
          SendBytes(channel_, path, messages,
                    is_stream ? absl::Milliseconds(200) : absl::Seconds(30));
      SCOPED_TRACE(absl::StrCat(path, ", round ", round, ": ",
                                absl::CHexEscape(messages.front())));
      if (status.ok()) continue;
      if (is_stream && absl::IsDeadlineExceeded(status)) continue;
      // gRPC itself refuses, without a word, what is no message at all.
      const bool is_message = method != nullptr &&
                              !method->client_streaming() &&
                              Parses(*method, messages.front());
      if (!is_message) continue;
      EXPECT_FALSE(absl::IsUnknown(status));
      EXPECT_FALSE(absl::IsInternal(status)) << status;
      EXPECT_FALSE(absl::IsDeadlineExceeded(status));
      EXPECT_FALSE(status.message().empty()) << status;
    }
    const absl::Status afterwards = Ask();
    ASSERT_TRUE(afterwards.ok()) << afterwards << "\nafter round " << round;
  }
  EXPECT_LT(ReadOwnBytes() - warm, kMaxGrowth);
  coordinator_->Signal(SIGTERM);
  EXPECT_EQ(coordinator_->Wait(), 0) << coordinator_->Errors();
}

}  // namespace
}  // namespace meshwright::integration
