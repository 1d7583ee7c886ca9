#include "base/rpc/rpc_status.h"

#include <grpc/support/log.h>
#include <grpcpp/support/status.h>

#include <mutex>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/log/log.h"

namespace meshwright::base {
namespace {

// A client of gRPC drops an answer whose head is longer than 16 KiB, in which a
// byte of a message may take three; it would not even see the code.
constexpr size_t kMaxMessageBytes = 4096;

// Whole letters of UTF-8.
std::string Shorten(absl::string_view message) {
  if (message.size() <= kMaxMessageBytes) return std::string(message);
  size_t end = kMaxMessageBytes;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) {
    --end;
  }
  return absl::StrCat(message.substr(0, end), "...");
}

}  // namespace

// The codes of both libraries carry the same numbers.
grpc::Status ToRpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  std::string details;
  status.ForEachPayload([&](absl::string_view, const absl::Cord& content) {
    if (!content.empty()) details = std::string(content);
  });
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      Shorten(status.message()), details);
}

absl::Status FromRpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

void SilenceGrpc() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function(
        [](gpr_log_func_args* args) { LogDebug("grpc: ", args->message); });
  });
}

}  // namespace meshwright::base
