// Answers that a client asks for and does not read.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/rpc/channel.h"
#include "coordinator/daemon/coordinator.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "proto/v1/plans.grpc.pb.h"
#include "tests/integration/comes_true.h"

namespace meshwright::integration {
namespace {

// A call whose answer is on its way, and is not read. It is cancelled when it
// goes.
class UnreadCall {
 public:
  UnreadCall(const std::shared_ptr<grpc::Channel>& channel,
             const std::string& path, const std::string& bytes)
      : call_(
            grpc::GenericStub(channel).PrepareCall(&context_, path, &queue_)) {
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer request(&slice, 1);
    call_->StartCall(nullptr), Await();
    call_->Write(request, nullptr), Await();
    call_->WritesDone(nullptr), Await();
    call_->ReadInitialMetadata(nullptr), Await();  // comes with the answer
  }
  ~UnreadCall() {
    context_.TryCancel();
    grpc::Status status;
    call_->Finish(&status, nullptr), Await();
  }
  UnreadCall(const UnreadCall&) = delete;
  UnreadCall& operator=(const UnreadCall&) = delete;

 private:
  void Await() {
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
  }

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  const std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

TEST(UnreadAnswersTest, TheirBytesAreBoundedTogetherAndComeBack) {
  base::SystemClock clock;
  store::FakeProfileStore profiles;
  store::MemoryPlanStore plans;
  const store::Epoch epoch = *plans.BeginEpoch("a coordinator before");
  v1::PlanRecord record;
  record.set_namespace_("shared");
  ASSERT_TRUE(plans.Add(record).ok());
  v1::PlanUpdate done;
  done.set_state(v1::DONE);
  done.mutable_plan();
  ASSERT_TRUE(plans.Append(epoch, store::PlanId{1}, done).ok());

  daemon::Coordinator::Dependencies dependencies;
  dependencies.clock = &clock;
  dependencies.listen_address = "127.0.0.1:0";
  dependencies.profiles = &profiles;
  dependencies.plans = &plans;
  dependencies.limits.answer_bytes = 5 << 20;
  dependencies.questions.explain = [](const auto&) {
    v1::PlanExplanation explanation;
    explanation.add_choices()->set_describe(std::string(2 << 20, 'x'));
    return explanation;
  };
  daemon::Coordinator coordinator(std::move(dependencies));
  ASSERT_TRUE(coordinator.Start().ok());

  v1::ExplainPlanRequest question;
  question.set_id("plan-1");
  const auto stub =
      v1::Plans::NewStub(*base::OpenChannel(coordinator.address(), {}));
  const auto explain = [&] {
    grpc::ClientContext context;
    v1::PlanExplanation answer;
    return stub->Explain(&context, question, &answer);
  };
  {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // its window stays small
    const auto channel = grpc::CreateCustomChannel(
        coordinator.address(), grpc::InsecureChannelCredentials(), arguments);
    const std::string path = "/meshwright.v1.Plans/Explain";
    const UnreadCall first(channel, path, question.SerializeAsString());
    const UnreadCall second(channel, path, question.SerializeAsString());
    const grpc::Status refused = explain();
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_THAT(refused.error_message(),
                testing::HasSubstr("holds 5242880 bytes of answers"));
    grpc::ClientContext context;
    v1::GetPlanRequest request;
    request.set_id("plan-1");
    EXPECT_TRUE(stub->Get(&context, request, &record).ok());  // a small one
  }
  EXPECT_TRUE(ComesTrue([&] { return explain().ok(); }));
}

}  // namespace
}  // namespace meshwright::integration
