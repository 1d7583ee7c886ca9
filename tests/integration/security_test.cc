// A real coordinator with TLS and tokens on loopback. Certificates are made by
// the command openssl.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/rpc/channel.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/daemon/coordinator.h"
#include "coordinator/metrics/figures.h"
#include "coordinator/metrics/testing/read_metrics.h"
#include "coordinator/security/rpc_roles.h"
#include "coordinator/security/testing/fake_audit_log.h"
#include "coordinator/security/token_file.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "proto/v1/plans.grpc.pb.h"
#include "proto/v1/profiles.grpc.pb.h"
#include "proto/v1/services.grpc.pb.h"
#include "tests/integration/certificates.h"
#include "tests/integration/comes_true.h"

namespace meshwright::integration {
namespace {

using base::ChannelSecurity;
using client::PlanningClient;
using daemon::Coordinator;
using security::Role;
using testing::HasSubstr;
using Stream =
    grpc::ClientReaderWriter<v1::WorkerMessage, v1::CoordinatorMessage>;

class SecurityTest : public testing::Test {
 protected:
  void SetUp() override {
    certificates_.MakeAuthority("ca");
    certificates_.MakeCertificate("ca", "server");
  }
  std::string File(const std::string& name) const {
    return certificates_.File(name);
  }

  void Start(security::Listening listening,
             const std::string& address = "localhost:0") {
    Coordinator::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.listen_address = address;
    dependencies.security = std::move(listening);
    dependencies.audit = &audit_;
    dependencies.figures = &figures_;
    dependencies.metrics_address = "127.0.0.1:0";
    dependencies.plans = &plans_;
    dependencies.profiles = &profiles_;
    // There is no worker, so that plans wait.
    dependencies.plan = [](const v1::PlanRequest& /*request*/,
                           jobs::Measurer* measurer,
                           const jobs::ProgressFunction& /*progress*/)
        -> absl::StatusOr<v1::Plan> {
      const auto described = measurer->Describe(v1::DeviceSpec());
      if (!described.ok()) return described.status();
      return v1::Plan();
    };
    coordinator_ = std::make_unique<Coordinator>(std::move(dependencies));
    const absl::Status status = coordinator_->Start();
    ASSERT_TRUE(status.ok()) << status;
  }
  security::Listening Tls() const {
    security::Listening listening;
    listening.certificate_file = File("server.pem");
    listening.key_file = File("server.key");
    listening.reload_seconds = 1;
    return listening;
  }
  void StartWithTokens() {
    security::Listening listening = Tls();
    listening.token_file = File("tokens.toml");
    Start(listening);
  }

  // Without a word to the coordinator.
  void EmptyTokenFile() const {
    ASSERT_TRUE(
        security::ChangeTokenFile(File("tokens.toml"),
                                  [](std::vector<security::Token>& tokens) {
                                    tokens.clear();
                                    return absl::OkStatus();
                                  })
            .ok());
  }
  void RevokeAll() const {
    EmptyTokenFile();
    ASSERT_TRUE(coordinator_->Reload().ok());
  }
  // Revokes all tokens when the stream has been admitted, which the audit log
  // says, and before its next chunk.
  template <typename Chunk>
  void WriteAroundRevoking(const Chunk& chunk,
                           grpc::ClientWriterInterface<Chunk>& writer) {
    writer.Write(chunk);
    EXPECT_TRUE(ComesTrue([&] { return !audit_.entries().empty(); }));
    RevokeAll();
    writer.Write(chunk);
  }
  std::string AddToken(std::vector<Role> roles, absl::Duration life) {
    security::NewToken made = *security::MakeToken();
    made.token.roles = std::move(roles);
    made.token.created = clock_.Now();
    made.token.expires = clock_.Now() + life;
    EXPECT_TRUE(
        security::ChangeTokenFile(File("tokens.toml"),
                                  [&](std::vector<security::Token>& tokens) {
                                    tokens.push_back(made.token);
                                    return absl::OkStatus();
                                  })
            .ok());
    return made.text;
  }
  ChannelSecurity With(const std::string& token) const {
    return {.ca_file = File("ca.pem"), .token = token, .reload_seconds = 1};
  }
  absl::Status Ask(const ChannelSecurity& security) const {
    const auto client =
        PlanningClient::Connect(coordinator_->address(), security);
    if (!client.ok()) return client.status();
    return (*client)->ListJobs().status();
  }
  std::shared_ptr<grpc::Channel> Channel(const std::string& token) const {
    return *base::OpenChannel(coordinator_->address(), With(token));
  }
  // The status that a call of this RPC, with an empty message, ends with.
  grpc::Status Call(grpc::Channel& channel, const std::string& path) const {
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    grpc::GenericStub stub(
        std::shared_ptr<grpc::ChannelInterface>(&channel, [](auto*) {}));
    const auto call = stub.PrepareCall(&context, path, &queue);
    grpc::Status status;
    void* tag = nullptr;
    bool ok = false;
    call->StartCall(nullptr);
    queue.Next(&tag, &ok);
    call->Finish(&status, nullptr);
    queue.Next(&tag, &ok);
    return status;
  }

  base::FakeClock clock_;
  security::FakeAuditLog audit_;
  metrics::Figures figures_;
  store::MemoryPlanStore plans_;
  store::FakeProfileStore profiles_;
  const Certificates certificates_{testing::TempDir() + "/security_test"};
  std::unique_ptr<Coordinator> coordinator_;
};

TEST_F(SecurityTest, RefusedCallsAreCounted) {
  const std::string reads = AddToken({Role::kRead}, absl::Hours(1));
  StartWithTokens();
  const auto without = Channel("");
  Call(*without, "/meshwright.v1.Planning/ListJobs");
  Call(*without, "/meshwright.v1.Planning/MadeUp");
  Call(*Channel(reads), "/meshwright.v1.Admin/DrainWorker");
  const std::string text =
      metrics::ReadMetrics(coordinator_->metrics_address());
  for (const char* status :
       {"UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED"}) {
    EXPECT_THAT(
        text, HasSubstr(absl::StrCat("\nmeshwright_rpc_refused_total{status=\"",
                                     status, "\"} 1\n")));
  }
}

// No handler has to do it: the hook stands before all of them.
TEST_F(SecurityTest, EveryRpcAsksForATokenOfItsRole) {
  const std::string reads = AddToken({Role::kRead}, absl::Hours(1));
  const std::string works = AddToken({Role::kWork}, absl::Hours(1));
  StartWithTokens();
  const auto without = Channel("");
  for (const security::RpcRole& rpc : security::RpcRoles()) {
    if (rpc.open) continue;
    const std::string path(rpc.path);
    const grpc::Status none = Call(*without, path);
    EXPECT_EQ(none.error_code(), grpc::StatusCode::UNAUTHENTICATED) << path;
    EXPECT_THAT(none.error_message(), HasSubstr("--token-file")) << path;
    const auto other = Channel(rpc.role == Role::kWork ? reads : works);
    const grpc::Status refused = Call(*other, path);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED)
        << path;
    EXPECT_THAT(refused.error_message(),
                HasSubstr(absl::StrCat("needs the role ", ToString(rpc.role))));
  }
}

TEST_F(SecurityTest, TokensThatCountAndThoseThatDoNot) {
  const std::string good = AddToken({Role::kRead}, absl::Hours(1));
  StartWithTokens();
  const absl::Status asked = Ask(With(good));
  EXPECT_TRUE(asked.ok()) << asked;
  EXPECT_EQ(Ask(With("mwt_guess")).code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Ask(With(security::MakeToken()->text)).code(),
            absl::StatusCode::kUnauthenticated);
  clock_.Advance(absl::Hours(2));
  const absl::Status late = Ask(With(good));
  EXPECT_EQ(late.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(std::string(late.message()), HasSubstr("expired"));

  const std::string fresh = AddToken({Role::kRead}, absl::Hours(1));
  ASSERT_TRUE(coordinator_->Reload().ok());
  EXPECT_TRUE(Ask(With(fresh)).ok());
}

TEST_F(SecurityTest, AnotherAuthorityAndNoTls) {
  certificates_.MakeAuthority("other");
  Start(Tls());
  EXPECT_TRUE(Ask(With("")).ok());
  ChannelSecurity wrong = With("");
  wrong.ca_file = File("other.pem");
  const absl::Status distrusted = Ask(wrong);
  EXPECT_EQ(distrusted.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(distrusted.message()), HasSubstr("--ca"));
  const absl::Status plain = Ask({});
  EXPECT_EQ(plain.code(), absl::StatusCode::kUnavailable);
}

TEST_F(SecurityTest, MutualTlsNamesTheCaller) {
  certificates_.MakeCertificate("ca", "launcher");
  security::Listening listening = Tls();
  listening.client_ca_file = File("ca.pem");
  Start(listening);
  EXPECT_FALSE(Ask(With("")).ok());
  ChannelSecurity own = With("");
  own.certificate_file = File("launcher.pem");
  own.key_file = File("launcher.key");
  const auto client = PlanningClient::Connect(coordinator_->address(), own);
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_EQ((*client)->Compare({}, nullptr, {}).code(),
            absl::StatusCode::kInvalidArgument);  // the handler's own word
  const auto entries = audit_.entries();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].who, "certificate:launcher");
  EXPECT_EQ(entries[0].what, "/meshwright.v1.Planning/Compare");
  EXPECT_THAT(entries[0].peer, HasSubstr("ipv"));
}

// Everyone there may do everything: then it is good to know who did what.
TEST_F(SecurityTest, CallsOfAnInsecurePortAreRecorded) {
  security::Listening listening;
  listening.insecure = true;
  Start(listening, "0.0.0.0:0");
  const std::string& address = coordinator_->address();
  const auto client = PlanningClient::Connect(
      absl::StrCat("127.0.0.1", address.substr(address.rfind(':'))));
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE((*client)->ListJobs().ok());  // it only reads
  EXPECT_EQ((*client)->Compare({}, nullptr, {}).code(),
            absl::StatusCode::kInvalidArgument);
  const auto entries = audit_.entries();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].what, "/meshwright.v1.Planning/Compare");
  EXPECT_EQ(entries[0].outcome, "admitted");
  EXPECT_THAT(entries[0].peer, HasSubstr("127.0.0.1"));
}

// New connections see the new certificate; nothing is restarted.
TEST_F(SecurityTest, AChangedCertificateIsTakenUp) {
  Start(Tls());
  ASSERT_TRUE(Ask(With("")).ok());
  certificates_.MakeAuthority("next");
  certificates_.MakeCertificate("next", "server");
  ChannelSecurity next = With("");
  next.ca_file = File("next.pem");
  ASSERT_TRUE(ComesTrue([&] { return Ask(next).ok(); }));
  EXPECT_FALSE(Ask(With("")).ok());
}

v1::WorkerMessage Hello(const std::string& secret) {
  v1::WorkerMessage message;
  v1::WorkerHello& hello = *message.mutable_hello();
  hello.set_worker_id("gpu7");
  hello.set_host("here");
  hello.set_platform("cpu");
  hello.set_device_count(1);
  hello.set_session_secret(secret);
  return message;
}

// One attachment; ends with its stream.
struct Attachment {
  Attachment(const std::shared_ptr<grpc::Channel>& channel,
             const std::string& secret)
      : stub(v1::Workers::NewStub(channel)), stream(stub->Attach(&context)) {
    stream->Write(Hello(secret));
  }
  ~Attachment() { context.TryCancel(); }
  grpc::Status End() {
    v1::CoordinatorMessage said;
    while (stream->Read(&said)) {
    }
    return stream->Finish();
  }
  grpc::ClientContext context;
  std::unique_ptr<v1::Workers::Stub> stub;
  std::unique_ptr<Stream> stream;
};

TEST_F(SecurityTest, AWorkerIsReplacedByItsOwnerAlone) {
  Start(Tls());
  const auto channel = Channel("");
  Attachment first(channel, "mine");
  ASSERT_TRUE(
      ComesTrue([&] { return !coordinator_->queue().Workers().empty(); }));
  const grpc::Status stranger = Attachment(channel, "other").End();
  EXPECT_EQ(stranger.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(stranger.error_message(), HasSubstr("--name"));
  EXPECT_EQ(coordinator_->queue().Workers().size(), 1u);
  Attachment again(channel, "mine");
  EXPECT_EQ(first.End().error_code(), grpc::StatusCode::ABORTED);
}

TEST_F(SecurityTest, AWorkerWithATokenIsReplacedByItselfAlone) {
  const std::string ours = AddToken({Role::kWork}, absl::Hours(1));
  const std::string theirs = AddToken({Role::kWork}, absl::Hours(1));
  StartWithTokens();
  Attachment first(Channel(ours), "one");
  ASSERT_TRUE(
      ComesTrue([&] { return !coordinator_->queue().Workers().empty(); }));
  EXPECT_EQ(Attachment(Channel(theirs), "one").End().error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
  const grpc::Status other = Attachment(Channel(ours), "two").End();
  EXPECT_EQ(other.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(other.error_message(), HasSubstr("another worker of here"));
  Attachment again(Channel(ours), "one");
  EXPECT_EQ(first.End().error_code(), grpc::StatusCode::ABORTED);
  // Beside the entry of each call, one says which worker it is about.
  std::vector<std::string> outcomes;
  while (outcomes.size() < 4) {
    outcomes.clear();
    for (const security::AuditEntry& entry : audit_.entries()) {
      if (entry.object == "gpu7") outcomes.push_back(entry.outcome);
    }
  }
  EXPECT_THAT(outcomes, testing::ElementsAre("admitted", "ALREADY_EXISTS",
                                             "ALREADY_EXISTS", "admitted"));
}

TEST_F(SecurityTest, AWatchEndsWhenItsTokenIsRevokedInTheFile) {
  const std::string text = AddToken({Role::kRead}, absl::Hours(1));
  StartWithTokens();
  v1::PlanRecord record;
  record.set_namespace_("shared");
  ASSERT_TRUE(plans_.Add(record).ok());
  const auto stub = v1::Plans::NewStub(Channel(text));
  grpc::ClientContext context;
  v1::WatchPlanRequest request;
  request.set_id("plan-1");
  const auto watch = stub->Watch(&context, request);
  v1::PlanUpdate update;
  ASSERT_TRUE(watch->Read(&update));
  EmptyTokenFile();
  EXPECT_FALSE(watch->Read(&update));
  const grpc::Status status = watch->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(status.error_message(), HasSubstr("ask its administrator"));
}

TEST_F(SecurityTest, AModuleIsRefusedWhenItsTokenIsRevokedMeanwhile) {
  const std::string text = AddToken({Role::kSubmit}, absl::Hours(1));
  StartWithTokens();
  const auto stub = v1::Modules::NewStub(Channel(text));
  grpc::ClientContext context;
  v1::PutModuleResponse response;
  const auto writer = stub->Put(&context, &response);
  v1::ModuleChunk chunk;
  chunk.set_data("half");
  WriteAroundRevoking(chunk, *writer);
  const grpc::Status status = writer->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(SecurityTest, AnImportIsRefusedWhenItsTokenIsRevokedMeanwhile) {
  const std::string text = AddToken({Role::kAdmin}, absl::Hours(1));
  StartWithTokens();
  const auto stub = v1::Profiles::NewStub(Channel(text));
  grpc::ClientContext context;
  v1::ImportReport report;
  const auto writer = stub->Import(&context, &report);
  v1::ImportChunk chunk;
  chunk.set_data("half");
  WriteAroundRevoking(chunk, *writer);
  const grpc::Status status = writer->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

// The plan belongs to its namespace, not to the call that asked for it.
TEST_F(SecurityTest, APlanOutlivesTheTokenThatSubmittedIt) {
  const std::string text =
      AddToken({Role::kSubmit, Role::kRead}, absl::Hours(1));
  StartWithTokens();
  const auto client =
      PlanningClient::Connect(coordinator_->address(), With(text));
  ASSERT_TRUE(client.ok()) << client.status();
  v1::SubmitPlanRequest request;
  request.mutable_request()->set_hlo_module("module");
  const auto plan = (*client)->SubmitPlan(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(audit_.entries().back().object, plan->id());
  // Written with the plan.
  const std::vector<store::AuditRow> rows = *plans_.ReadAudit(0, 99);
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(),
                          [&](const store::AuditRow& row) {
                            return row.object == plan->id();
                          }),
            1);
  clock_.Advance(absl::Hours(2));
  const absl::Status late = (*client)->GetPlan(plan->id()).status();
  EXPECT_TRUE(absl::IsUnauthenticated(late)) << late;
  EXPECT_THAT(std::string(late.message()), HasSubstr("expired at"));
  const auto next = PlanningClient::Connect(
      coordinator_->address(), With(AddToken({Role::kRead}, absl::Hours(1))));
  ASSERT_TRUE(next.ok()) << next.status();
  ASSERT_TRUE(coordinator_->Reload().ok());
  const auto read = (*next)->GetPlan(plan->id());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_NE(read->state(), v1::FAILED) << read->reason();
  EXPECT_NE(read->state(), v1::CANCELLED);
}

TEST_F(SecurityTest, ASubmissionBeyondTheQuotaIsRefused) {
  const std::string text = AddToken({Role::kSubmit}, absl::Hours(1));
  ASSERT_TRUE(
      security::ChangeAccessFile(File("tokens.toml"), [](security::AccessFile&
                                                             file) {
        file.quotas.push_back(
            {.name_space = "shared", .plans = 1, .module_bytes = 100});
        return absl::OkStatus();
      }).ok());
  StartWithTokens();
  const auto client =
      PlanningClient::Connect(coordinator_->address(), With(text));
  ASSERT_TRUE(client.ok()) << client.status();
  v1::SubmitPlanRequest request;
  request.mutable_request()->set_hlo_module(std::string(101, 'm'));
  const absl::Status large = (*client)->SubmitPlan(request).status();
  EXPECT_TRUE(absl::IsResourceExhausted(large)) << large;
  EXPECT_THAT(std::string(large.message()), HasSubstr("100 bytes"));
  request.mutable_request()->set_hlo_module("module");
  const auto first = (*client)->SubmitPlan(request);
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::Status second = (*client)->SubmitPlan(request).status();
  EXPECT_TRUE(absl::IsResourceExhausted(second)) << second;
  EXPECT_THAT(std::string(second.message()),
              HasSubstr("the namespace shared may have 1 plans at once"));
  ASSERT_TRUE((*client)->CancelPlan(first->id()).ok());
  ASSERT_TRUE(ComesTrue(
      [&] { return plans_.Get(store::PlanId{1})->state() == v1::CANCELLED; }));
  EXPECT_TRUE((*client)->SubmitPlan(request).ok());
}

TEST_F(SecurityTest, AWorkerIsSentAwayWhenItsTokenIsRevoked) {
  const std::string text = AddToken({Role::kWork}, absl::Hours(1));
  StartWithTokens();
  Attachment worker(Channel(text), "one");
  ASSERT_TRUE(
      ComesTrue([&] { return !coordinator_->queue().Workers().empty(); }));
  RevokeAll();
  v1::WorkerMessage beat;
  beat.mutable_heartbeat();
  worker.stream->Write(beat);
  EXPECT_EQ(worker.End().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(coordinator_->queue().Workers().empty());
}

TEST_F(SecurityTest, AWorkerWithoutHeartbeatsDoesNotOutliveItsToken) {
  const std::string text = AddToken({Role::kWork}, absl::Hours(1));
  StartWithTokens();
  Attachment worker(Channel(text), "one");
  ASSERT_TRUE(
      ComesTrue([&] { return !coordinator_->queue().Workers().empty(); }));
  RevokeAll();
  v1::WorkerMessage health;
  health.mutable_health();
  worker.stream->Write(health);
  EXPECT_EQ(worker.End().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(coordinator_->queue().Workers().empty());
}

}  // namespace
}  // namespace meshwright::integration
