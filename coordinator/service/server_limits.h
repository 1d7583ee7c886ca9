// ServerLimits: what a coordinator's gRPC server takes from its peers, and
// what it offers beside the services of proto/v1.
//
// Concept: a message, a connection and all buffers together have a maximum.
// A larger message ends its call with kResourceExhausted, whichever RPC it is;
// modules come in chunks, so that none needs more. So does a larger answer:
// lists have pages, files chunks. A peer that vanished is
// noticed by keepalive. gRPC's health service and reflection are part of every
// server (coordinator/security/rpc_roles.h states who may call them).
// Ownership: PrepareServer is called once for a builder, before it builds.
// Threads: any. Errors: those of CheckAnswerBytes.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_SERVER_LIMITS_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_SERVER_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace grpc {
class Server;
class ServerBuilder;
}  // namespace grpc

namespace meshwright::service {

// Of one answer, and of one message of a stream of answers. A program that
// workers get is as large as it is.
inline constexpr size_t kMaximumAnswerBytes = 16 << 20;

// kResourceExhausted for one that is larger, with the way out.
absl::Status CheckAnswerBytes(size_t bytes);

struct ServerLimits {
  int message_bytes = 16 << 20;  // of what comes in
  int calls_per_connection = 256;
  int held_streams = 2048;   // CallSlots
  int streams_of_one = 512;  // with a token or certificate
  // Of unary answers that their clients have not taken, all and of one with a
  // token or certificate.
  int answer_bytes = 512 << 20;
  int answer_bytes_of_one = 128 << 20;
  int64_t import_bytes = int64_t{4} << 30;  // of a file of measurements
  int64_t upload_bytes = int64_t{1} << 30;  // of all modules on their way
  // A client whose turn it is: to send the chunks of a module or of a file, or
  // the first word of a worker, or to take the next piece of a file or event of
  // a plan or run.
  absl::Duration stream_idle = absl::Minutes(1);
  size_t buffer_bytes = size_t{512} << 20;  // of gRPC, all connections
  absl::Duration keepalive = absl::Seconds(30);
  absl::Duration keepalive_timeout = absl::Seconds(20);
  absl::Duration idle = absl::Minutes(30);  // a connection without calls
  // A new connection says within this time who it is, and that it speaks
  // HTTP/2.
  absl::Duration handshake = absl::Seconds(20);
};

void PrepareServer(const ServerLimits& limits, grpc::ServerBuilder* builder);

// Sets the answer of the health service for the server and each service of
// proto/v1.
void SetServing(bool serving, grpc::Server* server);

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_SERVER_LIMITS_H_
