// OpenChannel: every gRPC channel of this tree, with TLS and the token.
//
// Concept: launchers, the command line and workers reach a coordinator the same
// way. A call cannot forget the token: the channel adds it to each, and the
// trace that TRACEPARENT names (base/trace_context.h). Changed certificates are
// taken up without a new channel.
// Errors: kInvalidArgument where a file is missing, a token lies open to
// others, or an address beyond this machine is to be reached without TLS. The
// message is one sentence with the way out. A coordinator that is away is no
// error here.
// Threads: any.
#ifndef MESHWRIGHT_BASE_RPC_CHANNEL_H_
#define MESHWRIGHT_BASE_RPC_CHANNEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/rpc/channel_security.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace meshwright::base {

// Zeros: gRPC's own.
struct ChannelTiming {
  absl::Duration first_backoff;
  absl::Duration longest_backoff;
  // A peer that vanished without a word is noticed by these.
  absl::Duration keepalive;
};

// As gRPC's arguments, and sockets' options, take a duration.
int WholeMilliseconds(absl::Duration duration);

absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenChannel(
    const std::string& address, const ChannelSecurity& security,
    const ChannelTiming& timing = {});

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_RPC_CHANNEL_H_
