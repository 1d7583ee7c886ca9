// PlanningClient over real gRPC, at coordinators that answer as a test says.
#include "coordinator/client/planning_client.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "proto/v1/plans.grpc.pb.h"
#include "proto/v1/services.grpc.pb.h"

namespace meshwright::client {
namespace {

using testing::HasSubstr;

class FakePlanning final : public v1::Planning::Service {
 public:
  void Answer(const grpc::Status& answer) {
    base::MutexLock lock(&mutex_);
    answer_ = answer;
  }

  grpc::Status ListJobs(grpc::ServerContext*, const v1::ListJobsRequest*,
                        v1::ListJobsResponse*) override {
    base::MutexLock lock(&mutex_);
    return answer_;
  }

 private:
  base::Mutex mutex_;
  grpc::Status answer_ ABSL_GUARDED_BY(mutex_);
};

// Refuses each question with the seconds that its caller would wait.
class PatienceOfCallers final : public v1::Plans::Service {
 public:
  grpc::Status Explain(grpc::ServerContext* context,
                       const v1::ExplainPlanRequest*,
                       v1::PlanExplanation*) override {
    return Say(*context);
  }
  grpc::Status Diff(grpc::ServerContext* context, const v1::DiffPlansRequest*,
                    v1::PlanDifference*) override {
    return Say(*context);
  }
  grpc::Status WhatIf(grpc::ServerContext* context, const v1::WhatIfRequest*,
                      v1::Plan*) override {
    return Say(*context);
  }

 private:
  static grpc::Status Say(const grpc::ServerContext& context) {
    const auto left = context.deadline() - std::chrono::system_clock::now();
    return grpc::Status(
        grpc::StatusCode::ABORTED,
        absl::StrCat(
            std::chrono::duration_cast<std::chrono::seconds>(left).count()));
  }
};

class FakeCoordinator {
 public:
  FakeCoordinator() {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port);
    builder.RegisterService(&planning_);
    builder.RegisterService(&plans_);
    server_ = builder.BuildAndStart();
    address_ = absl::StrCat("127.0.0.1:", port);
  }

  const std::string& address() const { return address_; }
  void Answer(const grpc::Status& answer) { planning_.Answer(answer); }
  // As one that follows.
  void SendTo(const FakeCoordinator& leader) {
    Answer(grpc::Status(grpc::StatusCode::UNAVAILABLE, "another one leads",
                        leader.address()));
  }

 private:
  FakePlanning planning_;
  PatienceOfCallers plans_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

// Its connection stays there: the kernel of a stopped process answers for it.
TEST(PlanningClientTest, ALeaderThatFellSilentIsNotAskedAgain) {
  FakeCoordinator follower, leader, next;
  const auto client = PlanningClient::Connect(follower.address());
  ASSERT_TRUE(client.ok()) << client.status();
  follower.SendTo(leader);
  ASSERT_TRUE((*client)->ListJobs().ok());

  leader.Answer(grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED,
                             "Deadline Exceeded"));  // in gRPC's own words
  follower.SendTo(next);
  const absl::Status silent = (*client)->ListJobs().status();
  EXPECT_EQ(silent.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(silent.message(), HasSubstr(leader.address()));
  const auto jobs = (*client)->ListJobs();
  EXPECT_TRUE(jobs.ok()) << jobs.status();
}

TEST(PlanningClientTest, ALeaderWhoseStoreIsAwayIsNotAskedAgain) {
  FakeCoordinator follower, leader, next;
  const auto client = PlanningClient::Connect(follower.address());
  ASSERT_TRUE(client.ok()) << client.status();
  follower.SendTo(leader);
  ASSERT_TRUE((*client)->ListJobs().ok());

  leader.Answer(
      grpc::Status(grpc::StatusCode::UNAVAILABLE, "the database is away"));
  follower.SendTo(next);
  EXPECT_EQ((*client)->ListJobs().status().message(), "the database is away");
  const auto jobs = (*client)->ListJobs();
  EXPECT_TRUE(jobs.ok()) << jobs.status();
}

// Each may search for as long as the service takes for an explanation, 10 s,
// and does more than that.
TEST(PlanningClientTest, QuestionsThatSearchHaveTheTimeForIt) {
  const FakeCoordinator coordinator;
  const auto client = PlanningClient::Connect(coordinator.address());
  ASSERT_TRUE(client.ok()) << client.status();
  for (const absl::Status& said :
       {(*client)->ExplainPlan("plan-1").status(),
        (*client)->DiffPlans("plan-1", "plan-2").status(),
        (*client)->AskWhatIf("plan-1", v1::WhatIfChange()).status()}) {
    int seconds = 0;
    EXPECT_TRUE(absl::SimpleAtoi(said.message(), &seconds)) << said;
    EXPECT_GE(seconds, 60);
  }
}

}  // namespace
}  // namespace meshwright::client
