#include <arpa/inet.h>
#include <grpcpp/grpcpp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <span>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "base/rpc/channel.h"
#include "base/rpc/rpc_status.h"
#include "base/status_macros.h"
#include "coordinator/security/rpc_roles.h"
#include "proto/v1/plans.grpc.pb.h"
#include "tests/integration/hostile_messages.h"
#include "tests/integration/soak_caller.h"

namespace meshwright::integration {
namespace {

constexpr uint64_t kSeed = 200;
constexpr size_t kTooMany = (size_t{16} << 20) + 1;  // bytes of a message
// Of a wild message to a stream, which may wait for news, and to another call.
constexpr absl::Duration kStreamPatience = absl::Milliseconds(200);
constexpr absl::Duration kWildPatience = absl::Seconds(2);
constexpr absl::Duration kCallPatience = absl::Seconds(30);

class Stranger : public SoakCaller {
 public:
  Stranger(SoakRecord* record, std::string address, std::string wrong_token,
           std::vector<std::shared_ptr<grpc::Channel>> channels)
      : SoakCaller(record, kSeed),
        address_(std::move(address)),
        wrong_token_(std::move(wrong_token)),
        channels_(std::move(channels)),
        messages_(kSeed) {}

  void Call() override {
    const size_t kind = Below(20);
    if (kind == 0) {
      SendTooMuch();
    } else if (kind < 5) {
      SendWrongToken();
    } else if (kind < 8) {
      SendNoise();
    } else {
      SendWildMessage();
    }
    record_.Count([](SoakTally& tally) { ++tally.hostile; });
  }

 private:
  // Whatever is answered; that it is a clear refusal is tested elsewhere
  // (hostile_messages_test.cc).
  void SendWildMessage() {
    const std::span<const security::RpcRole> rows = security::RpcRoles();
    const std::string path(rows[Below(rows.size())].path);
    const auto* const method = FindMethod(path);
    SendBytes(channels_[Below(channels_.size())], path,
              messages_.MakeCall(method),
              IsStream(method) ? kStreamPatience : kWildPatience)
        .IgnoreError();
  }

  void SendTooMuch() {
    record_.Expect(SendBytes(channels_.front(), "/meshwright.v1.Plans/Submit",
                             {std::string(kTooMany, 'x')}, kCallPatience),
                   "a message that is too large",
                   absl::StatusCode::kResourceExhausted);
  }

  // Over a connection of its own.
  void SendWrongToken() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto plans = v1::Plans::NewStub(grpc::CreateCustomChannel(
        address_, grpc::InsecureChannelCredentials(), arguments));
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + kCallPatience));
    if (Below(2) == 0) {
      context.AddMetadata("authorization",
                          absl::StrCat("Bearer ", wrong_token_));
    }
    v1::ListPlansResponse response;
    record_.Expect(
        base::FromRpc(plans->List(&context, v1::ListPlansRequest(), &response)),
        "a wrong token", absl::StatusCode::kUnauthenticated);
  }

  void SendNoise() {
    const size_t colon = address_.rfind(':');
    int port = 0;
    if (!absl::SimpleAtoi(address_.substr(colon + 1), &port)) return;
    sockaddr_in there = {};
    there.sin_family = AF_INET;
    there.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, address_.substr(0, colon).c_str(), &there.sin_addr);
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return;
    if (connect(file, reinterpret_cast<sockaddr*>(&there), sizeof(there)) ==
        0) {
      constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
      const std::string bytes =
          absl::StrCat(Below(2) == 0 ? kPreface : "", messages_.Noise());
      // The other end may have closed it.
      static_cast<void>(send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                        0);
    }
    close(file);
  }

  const std::string address_;
  const std::string wrong_token_;
  const std::vector<std::shared_ptr<grpc::Channel>> channels_;
  HostileMessages messages_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SoakCaller>> MakeStranger(
    SoakRecord* record, const std::string& address, const std::string& submit,
    const std::string& wrong) {
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (const std::string& token : {submit, wrong}) {
    ASSIGN_OR_RETURN(auto channel,
                     base::OpenChannel(address, {.token = token}));
    channels.push_back(std::move(channel));
  }
  return std::make_unique<Stranger>(record, address, wrong,
                                    std::move(channels));
}

}  // namespace meshwright::integration
