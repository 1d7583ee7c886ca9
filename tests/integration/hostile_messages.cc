#include "tests/integration/hostile_messages.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <iterator>
#include <limits>

#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "base/rpc/rpc_status.h"
#include "proto/v1/admin.pb.h"
#include "proto/v1/plans.pb.h"
#include "proto/v1/profiles.pb.h"
#include "proto/v1/services.pb.h"

namespace meshwright::integration {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;
using google::protobuf::Reflection;

constexpr int kMaxDepth = 4;

}  // namespace

std::string HostileMessages::Noise() {
  std::string bytes(Below(200), '\0');
  for (char& byte : bytes) byte = static_cast<char>(Below(256));
  return bytes;
}

std::string HostileMessages::Bytes(const MethodDescriptor* method) {
  if (method == nullptr || Below(8) == 0) return Noise();
  const std::unique_ptr<Message> message(
      google::protobuf::MessageFactory::generated_factory()
          ->GetPrototype(method->input_type())
          ->New());
  Fill(*message, 0);
  std::string bytes = message->SerializePartialAsString();
  if (Below(2) == 0) return bytes;
  for (size_t i = Below(4) + 1; i > 0 && !bytes.empty(); --i) Damage(bytes);
  return bytes;
}

void HostileMessages::Fill(Message& message, int depth) {
  const auto* const descriptor = message.GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* const field = descriptor->field(i);
    if (Below(3) == 0) continue;
    if (!field->is_repeated()) {
      Put(message, field, depth);
      continue;
    }
    for (size_t n = Below(4); n > 0; --n) Put(message, field, depth);
  }
}

void HostileMessages::Put(Message& message, const FieldDescriptor* field,
                          int depth) {
  const Reflection& at = *message.GetReflection();
  const bool many = field->is_repeated();
  const auto put = [&](auto set, auto add, auto value) {
    many ? (at.*add)(&message, field, value)
         : (at.*set)(&message, field, value);
  };
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return put(&Reflection::SetInt32, &Reflection::AddInt32,
                 Number<int32_t>());
    case FieldDescriptor::CPPTYPE_INT64:
      return put(&Reflection::SetInt64, &Reflection::AddInt64,
                 Number<int64_t>());
    case FieldDescriptor::CPPTYPE_UINT32:
      return put(&Reflection::SetUInt32, &Reflection::AddUInt32,
                 Number<uint32_t>());
    case FieldDescriptor::CPPTYPE_UINT64:
      return put(&Reflection::SetUInt64, &Reflection::AddUInt64,
                 Number<uint64_t>());
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return put(&Reflection::SetDouble, &Reflection::AddDouble, Real());
    case FieldDescriptor::CPPTYPE_FLOAT:
      return put(&Reflection::SetFloat, &Reflection::AddFloat,
                 static_cast<float>(Real()));
    case FieldDescriptor::CPPTYPE_BOOL:
      return put(&Reflection::SetBool, &Reflection::AddBool, Below(2) == 0);
    case FieldDescriptor::CPPTYPE_ENUM:
      return put(&Reflection::SetEnumValue, &Reflection::AddEnumValue,
                 Number<int32_t>());
    case FieldDescriptor::CPPTYPE_STRING:
      return put(&Reflection::SetString, &Reflection::AddString, Text(field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (depth < kMaxDepth) {
        Fill(many ? *at.AddMessage(&message, field)
                  : *at.MutableMessage(&message, field),
             depth + 1);
      }
      return;
  }
}

template <typename T>
T HostileMessages::Number() {
  using Limits = std::numeric_limits<T>;
  const T values[] = {0,
                      1,
                      2,
                      static_cast<T>(-1),
                      Limits::max(),
                      Limits::min(),
                      static_cast<T>(Below(10)),
                      static_cast<T>(random_())};
  return values[Below(std::size(values))];
}
double HostileMessages::Real() {
  using Limits = std::numeric_limits<double>;
  const double values[] = {0,
                           -1,
                           0.5,
                           1e300,
                           Limits::infinity(),
                           -Limits::infinity(),
                           Limits::quiet_NaN(),
                           Limits::denorm_min()};
  return values[Below(std::size(values))];
}
std::string HostileMessages::Text(const FieldDescriptor* field) {
  if (field->type() == FieldDescriptor::TYPE_BYTES && Below(2) == 0) {
    return Noise();
  }
  const std::string values[] = {"",
                                "plan-1",
                                "plan-18446744073709551616",
                                "cpu",
                                "shared",
                                "../../etc/passwd",
                                "'; drop table plans; --",
                                "{\"a\": [[[[",
                                std::string(64, 'a'),
                                std::string(1, '\0'),
                                std::string(3000, 'x')};
  return values[Below(std::size(values))];
}
void HostileMessages::Damage(std::string& bytes) {
  const size_t at = Below(bytes.size());
  switch (Below(4)) {
    case 0:
      bytes[at] = static_cast<char>(Below(256));
      break;
    case 1:
      bytes.resize(at);
      break;
    case 2:
      bytes.insert(at, Noise());
      break;
    default:
      bytes += bytes.substr(at);
  }
}

std::vector<std::string> HostileMessages::MakeCall(
    const MethodDescriptor* method) {
  std::vector<std::string> messages = {Bytes(method)};
  if (method == nullptr || !method->client_streaming()) return messages;
  for (size_t n = Below(3); n > 0; --n) messages.push_back(Bytes(method));
  return messages;
}

const MethodDescriptor* FindMethod(std::string_view path) {
  // Their files register the methods.
  v1::WorkerRequest::descriptor();
  v1::SubmitPlanRequest::descriptor();
  v1::CompareRequest::descriptor();
  v1::CoverageRequest::descriptor();
  const std::string name(path.substr(1));
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
      absl::StrReplaceAll(name, {{"/", "."}}));
}

bool IsStream(const MethodDescriptor* method) {
  return method == nullptr || method->client_streaming() ||
         method->server_streaming();
}

absl::Status SendBytes(const std::shared_ptr<grpc::Channel>& channel,
                       const std::string& path,
                       const std::vector<std::string>& messages,
                       absl::Duration patience) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + patience));
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(&context, path, &queue);
  void* tag = nullptr;
  bool ok = false;
  const auto await = [&] { queue.Next(&tag, &ok); };
  call->StartCall(nullptr), await();
  for (const std::string& message : messages) {
    const grpc::Slice slice(message);
    const grpc::ByteBuffer request(&slice, 1);
    call->Write(request, nullptr), await();
  }
  call->WritesDone(nullptr), await();
  grpc::ByteBuffer response;
  call->Read(&response, nullptr), await();
  const bool is_answered = ok;
  if (is_answered) context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr), await();
  return is_answered ? absl::OkStatus() : base::FromRpc(status);
}

}  // namespace meshwright::integration
