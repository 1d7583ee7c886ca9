// HostileMessages: what a careless or evil client might send to any RPC.
//
// Concept: a message of the method with wild values in its fields, the same
// with damaged bytes, or noise. All follows from the seed. SendBytes makes a
// call of such bytes; gRPC's client library checks none of them.
// Threads: one for each object; SendBytes from any.
// Errors: of SendBytes, what the server answered; kDeadlineExceeded after
// `patience`.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_HOSTILE_MESSAGES_H_
#define MESHWRIGHT_TESTS_INTEGRATION_HOSTILE_MESSAGES_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace meshwright::integration {

class HostileMessages {
 public:
  explicit HostileMessages(uint64_t seed) : random_(seed) {}

  std::string Noise();
  // Of a method whose messages are not known here (null): noise.
  std::string Bytes(const google::protobuf::MethodDescriptor* method);
  // For one call of it; several for a stream of the client's.
  std::vector<std::string> MakeCall(
      const google::protobuf::MethodDescriptor* method);
  // Below `end`, which is not 0.
  size_t Below(size_t end) { return random_() % end; }

 private:
  void Fill(google::protobuf::Message& message, int depth);
  void Put(google::protobuf::Message& message,
           const google::protobuf::FieldDescriptor* field, int depth);
  template <typename T>
  T Number();
  double Real();
  std::string Text(const google::protobuf::FieldDescriptor* field);
  void Damage(std::string& bytes);

  std::mt19937_64 random_;
};

// "/meshwright.v1.Plans/Get"; null: none of proto/v1.
const google::protobuf::MethodDescriptor* FindMethod(std::string_view path);

// Whether a call of it may wait for news, of workers or of plans.
bool IsStream(const google::protobuf::MethodDescriptor* method);

// Sends the messages and reads at most one answer, or a stream's first.
absl::Status SendBytes(const std::shared_ptr<grpc::Channel>& channel,
                       const std::string& path,
                       const std::vector<std::string>& messages,
                       absl::Duration patience);

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_HOSTILE_MESSAGES_H_
