// Every RPC of a coordinator with hostile bytes, from a client that may do
// everything: messages of wild values, damaged messages and noise.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/rpc/channel.h"
#include "base/version.h"
#include "coordinator/security/rpc_roles.h"
#include "coordinator/security/token_file.h"
#include "proto/v1/admin.pb.h"
#include "proto/v1/plans.pb.h"
#include "proto/v1/profiles.pb.h"
#include "proto/v1/services.pb.h"
#include "tests/integration/process.h"

namespace meshwright::integration {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;
using google::protobuf::Reflection;

constexpr uint64_t kSeed = 23;
constexpr int kMaxDepth = 4;
constexpr int64_t kMaxGrowth = 32 << 20;

bool IsLong() { return std::getenv("MESHWRIGHT_LONG") != nullptr; }

// Messages that a careless or evil client might send.
class Hostile {
 public:
  explicit Hostile(uint64_t seed) : random_(seed) {}

  std::string Noise() {
    std::string bytes(Below(200), '\0');
    for (char& byte : bytes) byte = static_cast<char>(Below(256));
    return bytes;
  }

  // Null: the method's messages are not known here.
  std::string Bytes(const MethodDescriptor* method) {
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

  size_t Below(size_t end) { return random_() % end; }

 private:
  void Fill(Message& message, int depth) {
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

  void Put(Message& message, const FieldDescriptor* field, int depth) {
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
  T Number() {
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
  double Real() {
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
  std::string Text(const FieldDescriptor* field) {
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
  void Damage(std::string& bytes) {
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

  std::mt19937_64 random_;
};

const MethodDescriptor* FindMethod(std::string_view path) {
  const std::string name(path.substr(1));
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
      absl::StrReplaceAll(name, {{"/", "."}}));
}

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
    // Their files register the methods.
    v1::WorkerRequest::descriptor();
    v1::SubmitPlanRequest::descriptor();
    v1::CompareRequest::descriptor();
    v1::CoverageRequest::descriptor();
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

  // Sends the messages and reads at most one answer, or a stream's first.
  grpc::Status Call(const std::string& path,
                    const std::vector<std::string>& messages,
                    std::chrono::milliseconds patience) const {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + patience);
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
    return is_answered ? grpc::Status::OK : status;
  }

  grpc::Status Ask() const {
    return Call("/meshwright.v1.Plans/List", {""}, std::chrono::seconds(30));
  }

  std::unique_ptr<Process> coordinator_;
  std::string address_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(HostileMessagesTest, EveryRpcAnswersThemClearlyAndKeepsNothing) {
  ASSERT_TRUE(Ask().ok());
  Hostile hostile(kSeed);
  const int rounds = IsLong() ? 4000 : 40;
  int64_t warm = 0;
  for (int round = 0; round < rounds; ++round) {
    if (round == rounds / 2) warm = ReadOwnBytes();
    for (const security::RpcRole& row : security::RpcRoles()) {
      const std::string path(row.path);
      const MethodDescriptor* const method = FindMethod(path);
      ASSERT_EQ(method == nullptr, !path.starts_with("/meshwright.")) << path;
      const bool is_stream = method == nullptr || method->client_streaming() ||
                             method->server_streaming();
      std::vector<std::string> messages = {hostile.Bytes(method)};
      if (method != nullptr && method->client_streaming()) {
        for (size_t n = hostile.Below(3); n > 0; --n) {
          messages.push_back(hostile.Bytes(method));
        }
        // Else nobody is heard beyond a wrong Hello.
        if (path.ends_with("/Attach") && hostile.Below(2) == 0) {
          messages.insert(messages.begin(), MakeHello());
        }
      }
      // Streams wait for news: of workers, of plans.
      const grpc::Status status = Call(
          path, messages, std::chrono::milliseconds(is_stream ? 200 : 30000));
      SCOPED_TRACE(absl::StrCat(path, ", round ", round, ": ",
                                absl::CHexEscape(messages.front())));
      if (status.ok()) continue;
      if (is_stream &&
          status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
        continue;
      }
      // gRPC itself refuses, without a word, what is no message at all.
      const bool is_message = method != nullptr &&
                              !method->client_streaming() &&
                              Parses(*method, messages.front());
      if (!is_message) continue;
      EXPECT_NE(status.error_code(), grpc::StatusCode::UNKNOWN);
      EXPECT_NE(status.error_code(), grpc::StatusCode::INTERNAL)
          << status.error_message();
      EXPECT_NE(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
      EXPECT_FALSE(status.error_message().empty()) << status.error_code();
    }
    const grpc::Status afterwards = Ask();
    ASSERT_TRUE(afterwards.ok()) << afterwards.error_message() << "\n"
                                 << "after round " << round;
  }
  EXPECT_LT(ReadOwnBytes() - warm, kMaxGrowth);
  coordinator_->Signal(SIGTERM);
  EXPECT_EQ(coordinator_->Wait(), 0) << coordinator_->Errors();
}

}  // namespace
}  // namespace meshwright::integration
