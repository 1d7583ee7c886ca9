// Refusals of a coordinator's server, and its answers beside its own
// services: health and reflection.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/fingerprint.h"
#include "base/mutex.h"
#include "base/rpc/channel.h"
#include "base/version.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/daemon/coordinator.h"
#include "coordinator/http/testing/ask_http.h"
#include "coordinator/security/token_file.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "proto/v1/plans.grpc.pb.h"
#include "proto/v1/profiles.grpc.pb.h"
#include "proto/v1/services.grpc.pb.h"
#include "tests/integration/comes_true.h"

namespace meshwright::integration {
namespace {

using client::PlanningClient;
using daemon::Coordinator;
using testing::HasSubstr;

// `name`: "RssAnon:", resident and in no file; "VmSize:", what is reserved.
int64_t ReadOwnBytes(const std::string& name) {
  std::istringstream status(*base::ReadFile("/proc/self/status"));
  std::string word;
  while (status >> word && word != name) {
  }
  int64_t kib = 0;
  status >> kib;
  return kib * 1024;
}

class LimitsTest : public testing::Test {
 protected:
  ~LimitsTest() override {
    if (token_file_.empty()) return;
    unlink(token_file_.c_str());
    unlink((token_file_ + ".lock").c_str());
  }

  void Start(const service::ServerLimits& limits = {}) {
    Coordinator::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.listen_address = "127.0.0.1:0";
    dependencies.profiles = &profiles_;
    dependencies.plans = &plans_;
    dependencies.questions = questions_;
    dependencies.limits = limits;
    dependencies.security.token_file = token_file_;
    // Waits for devices that nobody has, but for one of this name.
    dependencies.plan = [](const v1::PlanRequest& request,
                           jobs::Measurer* measurer,
                           const jobs::ProgressFunction&) {
      if (request.model_name() == "done") {
        return absl::StatusOr<v1::Plan>(v1::Plan());
      }
      v1::DeviceSpec device;
      device.set_platform("cpu");
      device.set_device_count(2);
      return absl::StatusOr<v1::Plan>(measurer->Describe(device).status());
    };
    coordinator_ = std::make_unique<Coordinator>(std::move(dependencies));
    ASSERT_TRUE(coordinator_->Start().ok());
    channel_ = *base::OpenChannel(coordinator_->address(), {});
  }

  // Of a new token that may do everything; call before Start.
  std::string AddToken() {
    token_file_ = testing::TempDir() + "/limits_test.toml";
    security::NewToken made = *security::MakeToken();
    made.token.roles = {security::Role::kAdmin};
    made.token.created = clock_.Now();
    made.token.expires = clock_.Now() + absl::Hours(1);
    const auto add = [&](std::vector<security::Token>& tokens) {
      tokens.push_back(made.token);
      return absl::OkStatus();
    };
    EXPECT_TRUE(security::ChangeTokenFile(token_file_, add).ok());
    return made.text;
  }
  // Its id is plan-1.
  void AddDonePlan() {
    const store::Epoch epoch = *plans_.BeginEpoch("a coordinator before");
    v1::PlanRecord record;
    record.set_namespace_("shared");
    ASSERT_TRUE(plans_.Add(record).ok());
    v1::PlanUpdate done;
    done.set_state(v1::DONE);
    done.mutable_plan();
    ASSERT_TRUE(plans_.Append(epoch, store::PlanId{1}, done).ok());
  }

  // The bytes that a call of `path` with these bytes is answered with.
  absl::StatusOr<std::string> CallBytes(const std::string& path,
                                        const std::string& bytes) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareCall(&context, path, &queue);
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer request(&slice, 1);
    grpc::ByteBuffer response;
    grpc::Status status;
    void* tag = nullptr;
    bool ok = false;
    const auto await = [&] { queue.Next(&tag, &ok); };
    call->StartCall(nullptr), await();
    call->Write(request, nullptr), await();
    call->WritesDone(nullptr), await();
    call->Read(&response, nullptr), await();
    const bool is_answered = ok;
    call->Finish(&status, nullptr), await();
    if (!is_answered) {
      return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                          status.error_message());
    }
    std::vector<grpc::Slice> slices;
    EXPECT_TRUE(response.Dump(&slices).ok());
    std::string said;
    for (const grpc::Slice& part : slices) {
      said.append(reinterpret_cast<const char*>(part.begin()), part.size());
    }
    return said;
  }
  // 1: serving, 2: not serving.
  absl::StatusOr<std::string> Health(const std::string& service) {
    const std::string request =
        service.empty()
            ? ""
            : absl::StrCat("\x0a",
                           std::string(1, static_cast<char>(service.size())),
                           service);
    return CallBytes("/grpc.health.v1.Health/Check", request);
  }

  base::SystemClock clock_;
  store::FakeProfileStore profiles_;
  store::MemoryPlanStore plans_;
  plans::PlanQuestions questions_;
  std::string token_file_;
  std::unique_ptr<Coordinator> coordinator_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(LimitsTest, AMessageThatIsTooLargeIsRefusedAndTheConnectionGoesOn) {
  Start();
  const auto plans = v1::Plans::NewStub(channel_);
  const auto submit = [&](size_t bytes) {
    grpc::ClientContext context;
    v1::SubmitPlanRequest request;
    request.mutable_request()->set_hlo_module(std::string(bytes, 'x'));
    v1::PlanRecord record;
    return plans->Submit(&context, request, &record);
  };
  EXPECT_TRUE(submit((16 << 20) - 100).ok());
  const grpc::Status refused = submit(16 << 20);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("larger than max"));
  EXPECT_THAT(refused.error_message(), HasSubstr("16777216"));

  // A chunk of a module is a message like others.
  const auto modules = v1::Modules::NewStub(channel_);
  grpc::ClientContext context;
  v1::PutModuleResponse response;
  const auto writer = modules->Put(&context, &response);
  v1::ModuleChunk chunk;
  chunk.set_data(std::string(17 << 20, 'x'));
  writer->Write(chunk);
  writer->WritesDone();
  EXPECT_EQ(writer->Finish().error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(submit(100).ok());
}

TEST_F(LimitsTest, AModuleThatSaysItIsTooLargeIsRefusedAtItsFirstChunk) {
  Start();
  const auto modules = v1::Modules::NewStub(channel_);
  grpc::ClientContext context;
  v1::PutModuleResponse response;
  const auto writer = modules->Put(&context, &response);
  v1::ModuleChunk chunk;
  chunk.set_data("x");
  chunk.set_module_bytes(int64_t{1} << 40);
  writer->Write(chunk);
  // Writes are not done: the refusal does not wait for more chunks.
  const grpc::Status refused = writer->Finish();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("larger than the 536870912"));
}

// A module that is put by hand, chunk after chunk.
class Upload {
 public:
  explicit Upload(v1::Modules::Stub& stub)
      : writer_(stub.Put(&context_, &response_)) {}

  // False after the coordinator ended the call.
  bool Write(const std::string& data, int64_t stated = 0) {
    v1::ModuleChunk chunk;
    chunk.set_sha256(base::Sha256Hex(data));
    chunk.set_data(data);
    chunk.set_module_bytes(stated);
    return writer_->Write(chunk);
  }
  // Without a word that the writes are done.
  grpc::Status Await() { return writer_->Finish(); }
  grpc::Status Finish() {
    writer_->WritesDone();
    return writer_->Finish();
  }

 private:
  grpc::ClientContext context_;
  v1::PutModuleResponse response_;
  std::unique_ptr<grpc::ClientWriter<v1::ModuleChunk>> writer_;
};

TEST_F(LimitsTest, AModuleThatStopsComingEndsItsCall) {
  Start({.stream_idle = absl::Milliseconds(100)});
  const auto modules = v1::Modules::NewStub(channel_);
  Upload silent(*modules), begun(*modules);
  begun.Write("half of it");
  for (Upload* const upload : {&silent, &begun}) {
    const grpc::Status status = upload->Await();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
    EXPECT_THAT(status.error_message(), HasSubstr("for 100ms; put it again"));
  }
}

TEST_F(LimitsTest, AFileOfMeasurementsThatStopsComingEndsItsCall) {
  Start({.stream_idle = absl::Milliseconds(100)});
  const auto profiles = v1::Profiles::NewStub(channel_);
  for (const bool has_begun : {false, true}) {
    grpc::ClientContext context;
    v1::ImportReport report;
    const auto import = profiles->Import(&context, &report);
    v1::ImportChunk chunk;
    chunk.set_data("half of it");
    if (has_begun) import->Write(chunk);
    const grpc::Status status = import->Finish();  // more may come
    EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
    EXPECT_THAT(status.error_message(), HasSubstr("for 100ms; import it"));
  }
}

TEST_F(LimitsTest, AWorkerThatDoesNotSayWhoItIsIsSentAway) {
  Start({.stream_idle = absl::Milliseconds(100)});
  const auto workers = v1::Workers::NewStub(channel_);
  grpc::ClientContext context;
  const auto stream = workers->Attach(&context);
  v1::CoordinatorMessage said;
  EXPECT_FALSE(stream->Read(&said));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(), HasSubstr("for 100ms; attach it"));
}

TEST_F(LimitsTest, AModuleThatComesHoldsAStream) {
  Start({.held_streams = 0});
  const auto modules = v1::Modules::NewStub(channel_);
  Upload upload(*modules);
  const grpc::Status refused = upload.Await();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("holds 0 streams"));
}

// What counts is what came, not what is said to come.
TEST_F(LimitsTest, ModulesOnTheirWayHaveABudgetTogether) {
  Start({.upload_bytes = 3 << 20});
  const auto modules = v1::Modules::NewStub(channel_);
  const std::string data(2 << 20, 'x');
  Upload boasting(*modules);
  boasting.Write("x", 512 << 20);
  // Either of the two may come first; the other is refused.
  Upload left(*modules), right(*modules);
  Upload *one = &left, *other = &right;
  one->Write(data);
  other->Write(data);
  while (other->Write("")) std::swap(one, other);
  const grpc::Status refusal = other->Finish();
  EXPECT_EQ(refusal.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refusal.error_message(), HasSubstr("fill the 3145728 bytes"));
  const grpc::Status status = one->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  Upload later(*modules);
  later.Write(data);
  EXPECT_TRUE(later.Finish().ok());  // they gave their bytes back
}

TEST_F(LimitsTest, MemoryIsReservedAsAModuleComes) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  Start();
  const auto modules = v1::Modules::NewStub(channel_);
  const int64_t before = ReadOwnBytes("VmSize:");
  std::vector<std::unique_ptr<Upload>> uploads;
  for (int i = 0; i < 100; ++i) {
    uploads.push_back(std::make_unique<Upload>(*modules));
    uploads.back()->Write("x", 512 << 20);
  }
  int64_t growth = 0;
  for (const auto& upload : uploads) {
    growth = std::max(growth, ReadOwnBytes("VmSize:") - before);
    EXPECT_TRUE(upload->Finish().ok());
  }
  EXPECT_LT(growth, int64_t{8} << 30);  // all that is stated would be 50 GiB
#endif
}

// The client cuts what is larger.
TEST_F(LimitsTest, ALargeModuleComesInChunks) {
  Start();
  const auto client = PlanningClient::Connect(coordinator_->address());
  ASSERT_TRUE(client.ok()) << client.status();
  v1::SubmitPlanRequest request;
  request.mutable_request()->set_hlo_module(std::string(20 << 20, 'x'));
  const auto record = (*client)->SubmitPlan(request);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(profiles_.LookupProgram(record->module_sha256())->size(),
            size_t{20} << 20);
  // So do the programs of a comparison, which nobody can run.
  v1::CompareRequest comparison;
  const std::string program(9 << 20, 'a');
  comparison.mutable_reference()->set_hlo_module("reference");
  comparison.add_programs()->set_hlo_module(program);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE((*client)->Compare(comparison, nullptr, stop.get_token()).ok());
  EXPECT_EQ(*profiles_.LookupProgram(base::Sha256Hex(program)), program);
  EXPECT_TRUE(profiles_.LookupProgram(base::Sha256Hex("reference")).ok());
}

TEST_F(LimitsTest, AComparisonNamesModulesThatWerePut) {
  Start();
  const auto planning = v1::Planning::NewStub(channel_);
  const auto compare = [&](int modules) {
    v1::CompareRequest request;
    request.mutable_reference();
    for (int i = 0; i < modules; ++i) request.add_module_sha256("unknown");
    grpc::ClientContext context;
    return planning->Compare(&context, request)->Finish().error_code();
  };
  EXPECT_EQ(compare(1), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(compare(2), grpc::StatusCode::INVALID_ARGUMENT);
}

// They would become the environment of a process on a shared worker.
TEST_F(LimitsTest, FlagsThatNameFilesAreRefused) {
  Start();
  const auto plans = v1::Plans::NewStub(channel_);
  const auto planning = v1::Planning::NewStub(channel_);
  const auto expect_refused = [](const grpc::Status& status) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), HasSubstr("--xla_dump_to=x"));
  };
  v1::SubmitPlanRequest submission;
  submission.mutable_request()->set_hlo_module("hlo");
  submission.mutable_request()->set_xla_flags("--xla_dump_to=x");
  v1::PlanRecord record;
  grpc::ClientContext submitted, made, compared;
  expect_refused(plans->Submit(&submitted, submission, &record));
  expect_refused(planning->MakePlan(&made, submission.request())->Finish());
  v1::CompareRequest comparison;
  comparison.mutable_reference();
  comparison.mutable_options()->set_xla_flags("--xla_dump_to=x");
  expect_refused(planning->Compare(&compared, comparison)->Finish());
}

TEST_F(LimitsTest, MoreHeldStreamsThanTheMaximumAreRefused) {
  Start({.held_streams = 2});
  const auto plans = v1::Plans::NewStub(channel_);
  v1::SubmitPlanRequest submission;
  submission.mutable_request()->set_hlo_module("hlo");
  v1::PlanRecord record;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(plans->Submit(&context, submission, &record).ok());
  }
  struct Watch {
    Watch(v1::Plans::Stub& stub, const std::string& id) {
      v1::WatchPlanRequest request;
      request.set_id(id);
      reader = stub.Watch(&context, request);
    }
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::PlanUpdate>> reader;
  };
  v1::PlanUpdate update;
  auto first = std::make_unique<Watch>(*plans, record.id());
  ASSERT_TRUE(first->reader->Read(&update));
  Watch second(*plans, record.id());
  ASSERT_TRUE(second.reader->Read(&update));
  Watch third(*plans, record.id());
  EXPECT_FALSE(third.reader->Read(&update));
  const grpc::Status refused = third.reader->Finish();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("holds 2 streams"));
  // MakePlan and Compare hold streams too.
  const auto planning = v1::Planning::NewStub(channel_);
  grpc::ClientContext made, compared;
  v1::PlanEvent event;
  EXPECT_EQ(
      planning->MakePlan(&made, submission.request())->Finish().error_code(),
      grpc::StatusCode::RESOURCE_EXHAUSTED);
  v1::CompareRequest comparison;
  comparison.mutable_reference();
  EXPECT_EQ(planning->Compare(&compared, comparison)->Finish().error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  // A unary call is none, and a stream that ends makes room.
  {
    grpc::ClientContext context;
    v1::GetPlanRequest request;
    request.set_id(record.id());
    EXPECT_TRUE(plans->Get(&context, request, &record).ok());
  }
  first->context.TryCancel();
  EXPECT_FALSE(first->reader->Finish().ok());
  bool is_held = false;
  while (!is_held) {
    Watch again(*plans, record.id());
    is_held = again.reader->Read(&update);
    again.context.TryCancel();
    again.reader->Finish();
  }
  second.context.TryCancel();
  second.reader->Finish();
}

TEST_F(LimitsTest, AClientThatDoesNotReadHoldsNoProgressInMemory) {
  constexpr int kEvents = 100000;
  AddDonePlan();
  std::promise<void> validated;
  questions_.validate = [&](const v1::PlanRecord&,
                            const v1::ValidatePlanRequest&,
                            jobs::QueueMeasurer*, const auto& on_event) {
    v1::ValidatePlanEvent event;
    event.mutable_progress()->set_message(std::string(1024, 'm'));
    for (int i = 1; i <= kEvents; ++i) {
      event.mutable_progress()->set_done(i);
      on_event(event);
    }
    event.mutable_report();
    on_event(event);
    validated.set_value();
    return absl::OkStatus();
  };
  Start();
  const int64_t before = ReadOwnBytes("RssAnon:");
  const auto plans = v1::Plans::NewStub(channel_);
  grpc::ClientContext context;
  v1::ValidatePlanRequest request;
  request.set_id("plan-1");
  const auto reader = plans->Validate(&context, request);
  validated.get_future().wait();
  [[maybe_unused]] const int64_t growth = ReadOwnBytes("RssAnon:") - before;
// A sanitizer keeps what was freed.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(growth, 16 << 20);  // all of them would be 100 MB
#endif
  v1::ValidatePlanEvent event, last_progress;
  while (reader->Read(&event)) {
    if (event.has_progress()) last_progress = event;
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(last_progress.progress().done(), kEvents);
  EXPECT_TRUE(event.has_report());
}

TEST_F(LimitsTest, AConnectionThatSaysNothingIsClosed) {
  Start({.handshake = absl::Milliseconds(200)});
  const int silent = http::ConnectHttp(coordinator_->address());
  ASSERT_GE(silent, 0);
  const timeval patience = {.tv_sec = 30, .tv_usec = 0};
  setsockopt(silent, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  char bytes[1024];
  ssize_t read = 0;
  do {  // the coordinator's own settings come first
    read = recv(silent, bytes, sizeof(bytes), 0);
  } while (read > 0);
  EXPECT_TRUE(read == 0 || errno == ECONNRESET) << strerror(errno);
  close(silent);
}

// Calls that wait until the test has seen that many of them.
class HeldCalls {
 public:
  void Hold() {
    base::MutexLock lock(&mutex_);
    ++count_;
    mutex_.Await(absl::Condition(&released_));
    --count_;
  }
  void AwaitCount(int count) {
    const auto are_there = [&] { return count_ == count; };
    base::MutexLock lock(&mutex_);
    EXPECT_TRUE(
        mutex_.AwaitWithTimeout(absl::Condition(&are_there), absl::Seconds(30)))
        << count_ << " of " << count << " calls";
  }
  void Release() {
    base::MutexLock lock(&mutex_);
    released_ = true;
  }

 private:
  base::Mutex mutex_;
  int count_ = 0;
  bool released_ = false;
};

TEST_F(LimitsTest, CallsThatTakeLongLeaveThreadsForTheOthers) {
  constexpr int kMeasurements = 12;
  constexpr int kComputations = 8;
  HeldCalls validations, explanations;
  questions_.validate = [&](const auto&, const auto&, auto*, const auto&) {
    validations.Hold();
    return absl::OkStatus();
  };
  questions_.explain = [&](const auto&) {
    explanations.Hold();
    return v1::PlanExplanation();
  };
  Start();
  const auto plans = v1::Plans::NewStub(channel_);
  v1::SubmitPlanRequest submission;
  submission.mutable_request()->set_hlo_module("hlo");
  submission.mutable_request()->set_model_name("done");
  v1::PlanRecord record;
  {
    grpc::ClientContext context, watching;
    ASSERT_TRUE(plans->Submit(&context, submission, &record).ok());
    v1::WatchPlanRequest request;
    request.set_id(record.id());
    const auto watch = plans->Watch(&watching, request);
    v1::PlanUpdate update;
    while (watch->Read(&update)) continue;
    ASSERT_TRUE(watch->Finish().ok());
  }
  // A call that waits for a thread fails here.
  const auto with_deadline = [](const auto& call) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(20));
    return call(&context);
  };
  const auto get = [&](grpc::ClientContext* context) {
    v1::GetPlanRequest request;
    request.set_id(record.id());
    v1::PlanRecord answer;
    return plans->Get(context, request, &answer);
  };
  const auto explain = [&](grpc::ClientContext* context) {
    v1::ExplainPlanRequest request;
    request.set_id(record.id());
    v1::PlanExplanation answer;
    return plans->Explain(context, request, &answer);
  };
  const auto validate = [&](grpc::ClientContext* context) {
    v1::ValidatePlanRequest request;
    request.set_id(record.id());
    return plans->Validate(context, request)->Finish();
  };
  std::vector<std::jthread> threads;
  const auto hold = [&](const auto& call, int count) {
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&call] {
        grpc::ClientContext context;
        const grpc::Status status = call(&context);
        EXPECT_TRUE(status.ok()) << status.error_message();
      });
    }
  };
  const auto expect_refused = [](const grpc::Status& status, const char* why) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_THAT(status.error_message(), HasSubstr(why));
  };
  hold(validate, kMeasurements);
  validations.AwaitCount(kMeasurements);
  EXPECT_TRUE(with_deadline(get).ok());
  expect_refused(with_deadline(validate), "holds 12 calls that have");
  if (!HasFailure()) {
    hold(explain, kComputations);
    explanations.AwaitCount(kComputations);
    EXPECT_TRUE(with_deadline(get).ok());
    expect_refused(with_deadline(explain), "holds 8 calls that compute");
  }
  validations.Release();
  explanations.Release();
  threads.clear();
  // Those that ended make room.
  grpc::Status status;
  do {
    status = with_deadline(validate);
  } while (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(LimitsTest, ACallerHasAShareOfTheCallsThatTakeLong) {
  AddDonePlan();
  const std::string busy = AddToken();
  const std::string other = AddToken();
  HeldCalls validations, explanations;
  questions_.validate = [&](const auto&, const auto&, auto*, const auto&) {
    validations.Hold();
    return absl::OkStatus();
  };
  questions_.explain = [&](const auto&) {
    explanations.Hold();
    return v1::PlanExplanation();
  };
  Start();
  const auto call = [&](const std::string& token, const auto& ask) {
    const auto plans = v1::Plans::NewStub(
        *base::OpenChannel(coordinator_->address(), {.token = token}));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(20));
    return ask(*plans, &context);
  };
  const auto validate = [](v1::Plans::Stub& plans,
                           grpc::ClientContext* context) {
    v1::ValidatePlanRequest request;
    request.set_id("plan-1");
    return plans.Validate(context, request)->Finish();
  };
  const auto explain = [](v1::Plans::Stub& plans,
                          grpc::ClientContext* context) {
    v1::ExplainPlanRequest request;
    request.set_id("plan-1");
    v1::PlanExplanation answer;
    return plans.Explain(context, request, &answer);
  };
  std::vector<std::jthread> threads;
  const auto hold = [&](const std::string& token, const auto& ask) {
    threads.emplace_back([&call, &token, &ask] {
      const grpc::Status status = call(token, ask);
      EXPECT_TRUE(status.ok()) << status.error_message();
    });
  };
  const auto expect_share = [&](const auto& ask, HeldCalls& held, int share,
                                const std::string& why) {
    for (int i = 0; i < share; ++i) hold(busy, ask);
    held.AwaitCount(share);
    const grpc::Status refused = call(busy, ask);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_THAT(refused.error_message(), HasSubstr(why));
    if (HasFailure()) return;
    hold(other, ask);
    held.AwaitCount(share + 1);
  };
  expect_share(validate, validations, 4, "holds 4 calls that have");
  if (!HasFailure()) {
    expect_share(explain, explanations, 3, "holds 3 calls that compute");
  }
  validations.Release();
  explanations.Release();
}

// A database that hangs, as the plans' turn meets it.
class HangingPlanStore : public store::MemoryPlanStore {
 public:
  absl::StatusOr<std::vector<v1::PlanRecord>> List(
      const store::PlanFilter& filter) override {
    if (hangs_) held_.Hold();
    return MemoryPlanStore::List(filter);
  }
  void Hang() {
    hangs_ = true;
    held_.AwaitCount(1);
  }
  void Release() {
    hangs_ = false;
    held_.Release();
  }

 private:
  std::atomic<bool> hangs_ = false;
  HeldCalls held_;
};

TEST_F(LimitsTest, LeasesAndTheWatchdogDoNotWaitForTheDatabase) {
  HangingPlanStore store;
  std::atomic<int> count = 0;
  Coordinator::Dependencies dependencies;
  dependencies.clock = &clock_;
  dependencies.listen_address = "127.0.0.1:0";
  dependencies.profiles = &profiles_;
  dependencies.plans = &store;
  dependencies.shares_store = true;
  dependencies.alive = [&] { ++count; };
  Coordinator coordinator(std::move(dependencies));
  ASSERT_TRUE(coordinator.Start().ok());
  store.Hang();
  const int before = count;
  EXPECT_TRUE(ComesTrue([&] { return count >= before + 2; }));
  store.Release();
}

TEST_F(LimitsTest, HealthFollowsTheDrain) {
  Start();
  const std::string serving = "\x08\x01", not_serving = "\x08\x02";
  EXPECT_EQ(*Health(""), serving);
  EXPECT_EQ(*Health("meshwright.v1.Plans"), serving);
  EXPECT_EQ(Health("meshwright.v1.Nothing").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_TRUE(coordinator_->Drain(absl::Seconds(10)));
  EXPECT_EQ(*Health(""), not_serving);
  EXPECT_EQ(*Health("meshwright.v1.Plans"), not_serving);
}

TEST_F(LimitsTest, ReflectionListsTheServices) {
  Start();
  // ServerReflectionRequest.list_services, field 7.
  const auto listed = CallBytes(
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
      std::string("\x3a\x01*", 3));
  ASSERT_TRUE(listed.ok()) << listed.status();
  for (const char* service : {"meshwright.v1.Planning", "meshwright.v1.Plans",
                              "meshwright.v1.Modules", "meshwright.v1.Workers",
                              "grpc.health.v1.Health"}) {
    EXPECT_THAT(*listed, HasSubstr(service));
  }
}

// An older worker says no protocol and is welcome; one of a version before
// there were any would not understand this coordinator.
TEST_F(LimitsTest, AWorkerOfTwoVersionsAgoIsRefused) {
  Start();
  const auto workers = v1::Workers::NewStub(channel_);
  grpc::ClientContext context;
  const auto stream = workers->Attach(&context);
  v1::WorkerMessage message;
  v1::WorkerHello& hello = *message.mutable_hello();
  hello.set_worker_id("gpu7");
  hello.set_platform("cpu");
  hello.set_device_count(1);
  hello.mutable_protocols()->set_oldest(base::kWorkerProtocol - 2);
  hello.mutable_protocols()->set_newest(base::kWorkerProtocol - 2);
  stream->Write(message);
  v1::CoordinatorMessage said;
  EXPECT_FALSE(stream->Read(&said));
  const grpc::Status refused = stream->Finish();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.error_message(), HasSubstr("upgrade the worker"));
  EXPECT_TRUE(coordinator_->queue().Workers().empty());
}

}  // namespace
}  // namespace meshwright::integration
