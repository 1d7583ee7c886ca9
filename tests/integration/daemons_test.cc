// Coordinator and worker daemons over real gRPC in one process; the programs
// are run by FakeBatches, so that every turn of events is the test's own.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "base/version.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/daemon/coordinator.h"
#include "coordinator/jobs/testing/fake_worker.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "proto/v1/services.grpc.pb.h"
#include "tests/integration/comes_true.h"
#include "tests/integration/fake_batches.h"
#include "tests/integration/relay.h"
#include "worker/service/worker.h"

namespace meshwright::integration {
namespace {

using client::PlanningClient;
using daemon::Coordinator;
using testing::HasSubstr;
using testing::SizeIs;
using worker::Worker;
using Rows = std::map<std::string, v1::ProfileResult>;

class DaemonsTest : public testing::Test {
 protected:
  std::unique_ptr<Coordinator> NewCoordinator(
      const std::string& address, plans::PlanFunction plan = nullptr) {
    Coordinator::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.plan = std::move(plan);
    dependencies.listen_address = address;
    dependencies.profiles = &profiles_;
    dependencies.plans = plans_;
    dependencies.queue = queue_options_;
    return std::make_unique<Coordinator>(std::move(dependencies));
  }

  static std::unique_ptr<Worker> NewWorker(const std::string& name,
                                           const std::string& address,
                                           FakeBatches* batches) {
    Worker::Dependencies dependencies;
    dependencies.coordinator_address = address;
    dependencies.name = name;
    dependencies.host = "here";
    dependencies.devices.set_platform("cpu");
    dependencies.devices.set_device_count(2);
    dependencies.run_batch = batches->function();
    dependencies.longest_backoff = absl::Milliseconds(200);
    dependencies.heartbeat = absl::Milliseconds(200);
    return std::make_unique<Worker>(std::move(dependencies));
  }

  // One program per label; keys p0, p1, ...
  static v1::RunnerRequest Request(const std::vector<std::string>& labels) {
    v1::RunnerRequest request;
    *request.mutable_device() = Two();
    for (const std::string& label : labels) {
      v1::Program& program = *request.add_programs();
      program.set_key(absl::StrCat("p", request.programs_size() - 1));
      program.set_label(label);
    }
    return request;
  }

  static v1::DeviceSpec Two() {
    v1::DeviceSpec device;
    device.set_platform("cpu");
    device.set_device_count(2);
    return device;
  }

  static absl::Status Measure(Coordinator& coordinator,
                              const v1::RunnerRequest& request, Rows* rows) {
    const auto measurer = coordinator.NewMeasurer({});
    const auto described = measurer->Describe(request.device());
    if (!described.ok()) return described.status();
    return measurer->Measure(
        request,
        [&](const v1::ProfileResult& result) {
          EXPECT_TRUE(rows->emplace(result.key(), result).second);
          return absl::OkStatus();
        },
        nullptr);
  }

  // Submits without waiting for a worker.
  static jobs::Submission Submit(Coordinator& coordinator,
                                 const v1::RunnerRequest& request) {
    jobs::JobRequest job;
    job.request = request;
    job.origin.was_taken_over = true;
    return coordinator.queue().Submit(std::move(job));
  }

  // Until the only worker is in this state.
  static void AwaitWorker(Coordinator& coordinator,
                          v1::WorkerSummary::State state) {
    ASSERT_TRUE(ComesTrue([&] {
      const auto workers = coordinator.queue().Workers();
      return workers.size() == 1 && workers[0].state() == state;
    }));
  }

  base::SystemClock clock_;
  store::FakeProfileStore profiles_;
  jobs::JobQueue::Options queue_options_;
  store::PlanStore* plans_ = nullptr;  // null: each coordinator has its own
};

TEST_F(DaemonsTest, EveryProgramOfABatchHasItsRow) {
  const auto coordinator = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(coordinator->Start().ok());
  FakeBatches batches;
  const auto worker = NewWorker("a", coordinator->address(), &batches);
  ASSERT_TRUE(worker->Start().ok());
  Rows rows;
  ASSERT_TRUE(
      Measure(*coordinator, Request({"", "no compile", "crash", ""}), &rows)
          .ok());
  ASSERT_THAT(rows, SizeIs(4));
  EXPECT_EQ(rows["p0"].outcome(), v1::MEASURED);
  EXPECT_EQ(rows["p1"].outcome(), v1::COMPILE_FAILED);
  EXPECT_EQ(rows["p2"].reason(), "signal 11");
  EXPECT_EQ(rows["p3"].outcome(), v1::MEASURED);
}

TEST_F(DaemonsTest, ABatchOfALostWorkerEndsOnAnother) {
  const auto coordinator = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(coordinator->Start().ok());
  FakeBatches holding, free;
  free.Release();
  const auto lost = NewWorker("lost", coordinator->address(), &holding);
  const auto other = NewWorker("other", coordinator->address(), &free);
  ASSERT_TRUE(lost->Start().ok());
  Rows rows;
  absl::Status status;
  std::thread measuring([&] {
    status = Measure(*coordinator, Request({"", "hold", ""}), &rows);
  });
  holding.AwaitHeld();
  ASSERT_TRUE(other->Start().ok());
  lost->Stop();
  measuring.join();
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_THAT(rows, SizeIs(3));
  for (const auto& [key, row] : rows) EXPECT_EQ(row.outcome(), v1::MEASURED);
}

// As one that is stopped: its connection stands.
TEST_F(DaemonsTest, ABatchOfASilentWorkerEndsOnAnother) {
  queue_options_.lease_time = absl::Seconds(1);
  const auto coordinator = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(coordinator->Start().ok());
  const auto stub = v1::Workers::NewStub(grpc::CreateChannel(
      coordinator->address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto stream = stub->Attach(&context);
  v1::WorkerMessage message;
  message.mutable_hello()->set_worker_id("silent");
  message.mutable_hello()->set_platform("cpu");
  message.mutable_hello()->set_platform_version("fake 1");
  message.mutable_hello()->set_device_kind("fake");
  message.mutable_hello()->set_device_count(2);
  stream->Write(message);
  v1::CoordinatorMessage said;
  ASSERT_TRUE(stream->Read(&said));
  EXPECT_EQ(said.welcome().lease_seconds(), 1);
  Rows rows;
  absl::Status status;
  std::thread measuring([&] {
    status = Measure(*coordinator, Request({"", ""}), &rows);
  });
  ASSERT_TRUE(stream->Read(&said));
  EXPECT_EQ(said.batch().request().programs_size(), 2);
  FakeBatches batches;
  const auto other = NewWorker("other", coordinator->address(), &batches);
  ASSERT_TRUE(other->Start().ok());
  measuring.join();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows["p0"].worker(), "other");
  EXPECT_FALSE(stream->Read(&said));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(DaemonsTest, ADrainingWorkerEndsItsBatchFirst) {
  const auto coordinator = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(coordinator->Start().ok());
  FakeBatches batches;
  const auto worker = NewWorker("a", coordinator->address(), &batches);
  ASSERT_TRUE(worker->Start().ok());
  Rows rows;
  absl::Status status;
  std::thread measuring([&] {
    status = Measure(*coordinator, Request({"hold", ""}), &rows);
  });
  batches.AwaitHeld();
  worker->Drain();
  batches.Release();
  measuring.join();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(rows, SizeIs(2));
  worker->Wait();
  EXPECT_TRUE(coordinator->queue().Workers().empty());
}

TEST_F(DaemonsTest, ADrainingWorkerKeepsItsBatchThroughALostConnection) {
  const auto coordinator = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(coordinator->Start().ok());
  Relay relay(coordinator->address());
  FakeBatches batches;
  const auto worker = NewWorker("a", relay.address(), &batches);
  ASSERT_TRUE(worker->Start().ok());
  const auto job = Submit(*coordinator, Request({"hold", ""}));
  batches.AwaitHeld();
  worker->Drain();
  AwaitWorker(*coordinator, v1::WorkerSummary::DRAINING);
  relay.Cut();
  AwaitWorker(*coordinator, v1::WorkerSummary::AWAY);
  relay.Mend();
  AwaitWorker(*coordinator, v1::WorkerSummary::DRAINING);
  batches.Release();
  worker->Wait();
  const jobs::Story story = jobs::ReadStory(job);
  EXPECT_TRUE(story.status.ok()) << story.status;
  EXPECT_THAT(story.results, SizeIs(2));
  EXPECT_EQ(batches.started(), 2);
}

// It hands in what ended while it was cut off, and gets nothing new for it.
TEST_F(DaemonsTest, ADrainingWorkerComesBackOnlyToHandIn) {
  const auto coordinator = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(coordinator->Start().ok());
  Relay relay(coordinator->address());
  FakeBatches batches, others;
  const auto worker = NewWorker("a", relay.address(), &batches);
  ASSERT_TRUE(worker->Start().ok());
  const auto job = Submit(*coordinator, Request({"hold", ""}));
  const auto next = Submit(*coordinator, Request({""}));
  batches.AwaitHeld();
  relay.Cut();
  AwaitWorker(*coordinator, v1::WorkerSummary::AWAY);
  worker->Drain();
  batches.Release();
  batches.AwaitEnded(1);
  relay.Mend();
  worker->Wait();
  EXPECT_THAT(jobs::ReadStory(job).results, SizeIs(2));
  EXPECT_EQ(batches.started(), 2);
  const auto other = NewWorker("b", coordinator->address(), &others);
  ASSERT_TRUE(other->Start().ok());
  EXPECT_EQ(jobs::ReadStory(next).results.at("p0").worker(), "b");
}

TEST_F(DaemonsTest, ADrainingWorkerOutlastsARestart) {
  store::MemoryPlanStore plans;
  plans_ = &plans;
  auto coordinator = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(coordinator->Start().ok());
  const std::string address = coordinator->address();
  FakeBatches batches;
  const auto worker = NewWorker("a", address, &batches);
  ASSERT_TRUE(worker->Start().ok());
  const v1::RunnerRequest request = Request({"hold", ""});
  Submit(*coordinator, request);
  batches.AwaitHeld();
  worker->Drain();
  AwaitWorker(*coordinator, v1::WorkerSummary::DRAINING);
  coordinator.reset();
  coordinator = NewCoordinator(address);
  ASSERT_TRUE(coordinator->Start().ok());
  AwaitWorker(*coordinator, v1::WorkerSummary::DRAINING);
  const auto job = Submit(*coordinator, request);
  batches.Release();
  EXPECT_THAT(jobs::ReadStory(job).results, SizeIs(2));
  worker->Wait();
  EXPECT_EQ(batches.started(), 2);
}

TEST_F(DaemonsTest, ADrainingWorkerLeavesASilentCoordinator) {
  queue_options_.lease_time = absl::Seconds(1);
  const auto coordinator = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(coordinator->Start().ok());
  Relay relay(coordinator->address());
  FakeBatches batches;
  const auto worker = NewWorker("a", relay.address(), &batches);
  ASSERT_TRUE(worker->Start().ok());
  Submit(*coordinator, Request({"hold"}));
  batches.AwaitHeld();
  worker->Drain();
  relay.Cut();
  worker->Wait();
  batches.AwaitEnded(1);
  EXPECT_EQ(batches.started(), 1);
}

TEST_F(DaemonsTest, ABusyPortIsOneSentence) {
  const auto first = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(first->Start().ok());
  const auto second = NewCoordinator(first->address());
  const absl::Status status = second->Start();
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(status.message()), HasSubstr("in use"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(first->address()));
}

TEST_F(DaemonsTest, AddressesThatAreNone) {
  for (const char* address :
       {"", "7433", ":7433", "localhost:x", "127.0.0.1:99999"}) {
    const absl::Status status = NewCoordinator(address)->Start();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
  }
}

TEST_F(DaemonsTest, AWorkerComesBackToARestartedCoordinator) {
  auto coordinator = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(coordinator->Start().ok());
  const std::string address = coordinator->address();
  FakeBatches batches;
  const auto worker = NewWorker("a", address, &batches);
  ASSERT_TRUE(worker->Start().ok());
  Rows before;
  ASSERT_TRUE(Measure(*coordinator, Request({""}), &before).ok());
  coordinator.reset();
  coordinator = NewCoordinator(address);
  ASSERT_TRUE(coordinator->Start().ok());
  Rows after;
  const absl::Status status = Measure(*coordinator, Request({"", ""}), &after);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(after, SizeIs(2));
}

TEST_F(DaemonsTest, AStoppedCoordinatorEndsTheJobItRan) {
  const auto coordinator = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(coordinator->Start().ok());
  FakeBatches batches;
  const auto worker = NewWorker("a", coordinator->address(), &batches);
  ASSERT_TRUE(worker->Start().ok());
  Rows rows;
  absl::Status status;
  std::thread measuring(
      [&] { status = Measure(*coordinator, Request({"hold"}), &rows); });
  batches.AwaitHeld();
  coordinator->Stop();
  measuring.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
}

TEST_F(DaemonsTest, APlanComesWithItsProgress) {
  const auto coordinator = NewCoordinator(
      "127.0.0.1:0",
      [](const v1::PlanRequest& request, jobs::Measurer* measurer,
         const jobs::ProgressFunction& progress) -> absl::StatusOr<v1::Plan> {
        if (request.hlo_module() == "bad") {
          return absl::InvalidArgumentError("it is no HLO module");
        }
        for (int i = 0; i < 100; ++i) {
          v1::PlanProgress step;
          step.set_done(i);
          progress(step);
        }
        v1::Plan plan;
        plan.mutable_model()->set_name(request.model_name());
        return plan;
      });
  ASSERT_TRUE(coordinator->Start().ok());
  const auto client = PlanningClient::Connect(coordinator->address());
  ASSERT_TRUE(client.ok()) << client.status();
  v1::PlanRequest request;
  request.set_model_name("llama");
  request.set_hlo_module("hlo");
  int64_t last = -1;
  const auto plan = (*client)->MakePlan(request,
                                        [&](const v1::PlanProgress& step) {
                                          EXPECT_GT(step.done(), last);
                                          last = step.done();
                                        },
                                        {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->model().name(), "llama");
  EXPECT_GE(last, 0);
  request.set_hlo_module("bad");
  const auto refused = (*client)->MakePlan(request, nullptr, {});
  EXPECT_EQ(refused.status(),
            absl::InvalidArgumentError("it is no HLO module"));
}

// A plan that measures one program, which is held until the test lets it go.
plans::PlanFunction HeldPlan(const v1::RunnerRequest& request) {
  return [request](const v1::PlanRequest& asked, jobs::Measurer* measurer,
                   const jobs::ProgressFunction&) -> absl::StatusOr<v1::Plan> {
    const absl::Status measured = measurer->Measure(request, nullptr, nullptr);
    if (!measured.ok()) return measured;
    v1::Plan plan;
    plan.mutable_model()->set_name(asked.model_name());
    return plan;
  };
}

TEST_F(DaemonsTest, AClientThatGoesAwayLeavesItsPlan) {
  const auto coordinator =
      NewCoordinator("127.0.0.1:0", HeldPlan(Request({"hold"})));
  ASSERT_TRUE(coordinator->Start().ok());
  FakeBatches batches;
  const auto worker = NewWorker("a", coordinator->address(), &batches);
  ASSERT_TRUE(worker->Start().ok());
  const auto client = PlanningClient::Connect(coordinator->address());
  ASSERT_TRUE(client.ok());
  std::stop_source stop;
  absl::Status status;
  v1::PlanRequest request;
  request.set_hlo_module("hlo");
  request.set_model_name("llama");
  std::thread planning([&] {
    status = (*client)->MakePlan(request, nullptr, stop.get_token()).status();
  });
  batches.AwaitHeld();
  stop.request_stop();
  planning.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  const auto listed = (*client)->ListPlans({});
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->plans_size(), 1);
  batches.Release();
  v1::WatchPlanRequest watch;
  watch.set_id(listed->plans(0).id());
  v1::PlanUpdate last;
  ASSERT_TRUE(
      (*client)
          ->WatchPlan(watch, [&](const v1::PlanUpdate& it) { last = it; }, {})
          .ok());
  EXPECT_EQ(last.state(), v1::DONE);
  EXPECT_EQ(last.plan().model().name(), "llama");
}

// The worker goes on while there is no coordinator, and the next one gives its
// program to nobody else.
TEST_F(DaemonsTest, ARestartEndsNoBatch) {
  store::MemoryPlanStore plans;
  plans_ = &plans;
  FakeBatches batches, others;
  std::unique_ptr<Worker> worker, other;
  const plans::PlanFunction plan = HeldPlan(Request({"hold", ""}));
  auto coordinator = NewCoordinator("127.0.0.1:0", plan);
  ASSERT_TRUE(coordinator->Start().ok());
  const std::string address = coordinator->address();
  worker = NewWorker("a", address, &batches);
  ASSERT_TRUE(worker->Start().ok());
  std::string id;
  {
    const auto client = PlanningClient::Connect(address);
    ASSERT_TRUE(client.ok()) << client.status();
    v1::SubmitPlanRequest request;
    request.mutable_request()->set_hlo_module("hlo");
    const auto submitted = (*client)->SubmitPlan(request);
    ASSERT_TRUE(submitted.ok()) << submitted.status();
    id = submitted->id();
  }
  batches.AwaitHeld();
  // The message of the planning pipeline when it measures.
  v1::PlanUpdate measuring;
  measuring.set_state(v1::MEASURING);
  ASSERT_TRUE(
      plans.Append(store::Epoch{1}, *store::ParsePlanId(id), measuring).ok());
  coordinator.reset();
  coordinator = NewCoordinator(address, plan);
  ASSERT_TRUE(coordinator->Start().ok());
  other = NewWorker("b", address, &others);
  ASSERT_TRUE(other->Start().ok());
  batches.Release();
  const auto client = PlanningClient::Connect(address);
  ASSERT_TRUE(client.ok()) << client.status();
  v1::WatchPlanRequest watch;
  watch.set_id(id);
  v1::PlanUpdate last;
  ASSERT_TRUE(
      (*client)
          ->WatchPlan(watch, [&](const v1::PlanUpdate& it) { last = it; }, {})
          .ok());
  EXPECT_EQ(last.state(), v1::DONE) << last.reason();
  EXPECT_EQ(batches.started(), 2);
  EXPECT_EQ(others.started(), 0);
}

TEST_F(DaemonsTest, AnAdministratorOrdersJobsAndWorkers) {
  const auto coordinator =
      NewCoordinator("127.0.0.1:0", HeldPlan(Request({"hold"})));
  ASSERT_TRUE(coordinator->Start().ok());
  FakeBatches batches;
  const auto worker = NewWorker("a", coordinator->address(), &batches);
  ASSERT_TRUE(worker->Start().ok());
  const auto client = PlanningClient::Connect(coordinator->address());
  ASSERT_TRUE(client.ok());
  v1::SubmitPlanRequest submission;
  submission.mutable_request()->set_hlo_module("hlo");
  submission.mutable_request()->set_model_name("llama");
  submission.set_owner("ann");
  submission.set_priority(3);
  const auto submitted = (*client)->SubmitPlan(submission);
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  batches.AwaitHeld();
  v1::JobRequest job;
  job.set_job("job-1");
  const auto details = (*client)->GetJob(job);
  ASSERT_TRUE(details.ok()) << details.status();
  EXPECT_EQ(details->job().owner(), "ann");
  EXPECT_EQ(details->job().model(), "llama");
  EXPECT_EQ(details->job().plan(), submitted->id());
  EXPECT_EQ(details->job().priority(), 3);
  EXPECT_EQ(details->programs(0).worker(), "a");
  v1::WorkerRequest order;
  order.set_worker("a");
  order.set_reason("new fan");
  EXPECT_EQ((*client)->DrainWorker(order)->state(),
            v1::WorkerSummary::DRAINING);
  EXPECT_EQ((*client)->ResumeWorker(order)->state(), v1::WorkerSummary::BUSY);
  EXPECT_EQ((*client)->QuarantineWorker(order)->reason(),
            "is quarantined by an administrator: new fan");
  EXPECT_TRUE((*client)->RetryJob(job).ok());
  job.set_reason("maintenance");
  const auto ended = (*client)->CancelJob(job);
  ASSERT_TRUE(ended.ok()) << ended.status();
  v1::WatchPlanRequest watch;
  watch.set_id(submitted->id());
  v1::PlanUpdate last;
  ASSERT_TRUE(
      (*client)
          ->WatchPlan(watch, [&](const v1::PlanUpdate& it) { last = it; }, {})
          .ok());
  EXPECT_EQ(last.state(), v1::FAILED);
  EXPECT_EQ(last.reason(), "an administrator ended job-1: maintenance");
  EXPECT_EQ((*client)->CancelJob(job).status().code(),
            absl::StatusCode::kFailedPrecondition);
  job.set_job("seventeen");
  EXPECT_EQ((*client)->GetJob(job).status().code(),
            absl::StatusCode::kInvalidArgument);
  submission.set_priority(101);
  EXPECT_EQ((*client)->SubmitPlan(submission).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(DaemonsTest, APlanIsSubmittedWatchedAndCancelled) {
  const auto coordinator =
      NewCoordinator("127.0.0.1:0", HeldPlan(Request({"hold"})));
  ASSERT_TRUE(coordinator->Start().ok());
  const auto client = PlanningClient::Connect(coordinator->address());
  ASSERT_TRUE(client.ok());
  v1::SubmitPlanRequest submission;
  // Two chunks and a bit.
  submission.mutable_request()->set_hlo_module(std::string(2'500'000, 'x'));
  submission.set_owner("ann");
  const auto submitted = (*client)->SubmitPlan(submission);
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  EXPECT_EQ(submitted->state(), v1::QUEUED);
  EXPECT_EQ(profiles_.LookupProgram(submitted->module_sha256())->size(),
            2'500'000);
  // Nobody can measure it: the first watcher leaves once that is said.
  v1::WatchPlanRequest watch;
  watch.set_id(submitted->id());
  std::stop_source stop;
  std::vector<int64_t> sequences;
  const auto see = [&](const v1::PlanUpdate& update) {
    sequences.push_back(update.sequence());
    if (update.state() == v1::WAITING) stop.request_stop();
  };
  EXPECT_EQ((*client)->WatchPlan(watch, see, stop.get_token()).code(),
            absl::StatusCode::kCancelled);
  const auto waiting = (*client)->GetPlan(submitted->id());
  ASSERT_TRUE(waiting.ok()) << waiting.status();
  EXPECT_EQ(waiting->state(), v1::WAITING);
  EXPECT_THAT(waiting->reason(), HasSubstr("no worker is attached"));
  ASSERT_TRUE((*client)->CancelPlan(submitted->id()).ok());
  // The second one goes on where the first one stopped.
  watch.set_after(sequences.back());
  EXPECT_TRUE((*client)->WatchPlan(watch, see, {}).ok());
  for (size_t i = 0; i < sequences.size(); ++i) EXPECT_EQ(sequences[i], i + 1);
  EXPECT_EQ((*client)->GetPlan(submitted->id())->state(), v1::CANCELLED);
  EXPECT_EQ((*client)->GetPlan("plan-99").status().code(),
            absl::StatusCode::kNotFound);
  watch.set_id("seventeen");
  EXPECT_EQ((*client)->WatchPlan(watch, see, {}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(DaemonsTest, ADrainingCoordinatorTakesNoPlans) {
  const auto coordinator = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(coordinator->Start().ok());
  EXPECT_TRUE(coordinator->Drain(absl::Seconds(1)));
  const auto client = PlanningClient::Connect(coordinator->address());
  ASSERT_TRUE(client.ok());
  v1::PlanRequest request;
  request.set_hlo_module("hlo");
  EXPECT_EQ((*client)->MakePlan(request, nullptr, {}).status().code(),
            absl::StatusCode::kUnavailable);
}

// A refusal is known at once; a port that is open may be a coordinator's that
// is stopped or has much to do.
TEST_F(DaemonsTest, SilenceIsNotARefusal) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(listener, any, length), 0);
  ASSERT_EQ(getsockname(listener, any, &length), 0);
  const std::string name = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  const auto refused = PlanningClient::Connect(name, absl::Minutes(10));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("no coordinator answers at 127.0.0.1:"));
  ASSERT_EQ(listen(listener, 1), 0);
  const auto silent = PlanningClient::Connect(name, absl::Milliseconds(250));
  close(listener);
  EXPECT_EQ(silent.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(silent.status().message()),
              HasSubstr("in 250ms; the coordinator there is stopped"));
}

TEST_F(DaemonsTest, AComparisonRunsOnOneWorkerAndIsListed) {
  const auto coordinator = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(coordinator->Start().ok());
  FakeBatches batches;
  const auto worker = NewWorker("a", coordinator->address(), &batches);
  ASSERT_TRUE(worker->Start().ok());
  const auto client = PlanningClient::Connect(coordinator->address());
  ASSERT_TRUE(client.ok());
  v1::CompareRequest request;
  EXPECT_EQ((*client)->Compare(request, nullptr, {}).code(),
            absl::StatusCode::kInvalidArgument);
  *request.mutable_device() = Two();
  request.mutable_reference()->set_key("reference");
  const v1::RunnerRequest programs = Request(std::vector<std::string>(20, ""));
  *request.mutable_programs() = programs.programs();
  int results = 0;
  const absl::Status status = (*client)->Compare(
      request,
      [&](const v1::CompareEvent& event) {
        if (!event.has_result()) return;
        ++results;
        EXPECT_EQ(event.result().max_relative_difference(), 1e-6);
      },
      {});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(results, 20);
  const auto jobs = (*client)->ListJobs();
  ASSERT_TRUE(jobs.ok());
  ASSERT_EQ(jobs->jobs_size(), 1);
  EXPECT_EQ(jobs->jobs(0).state(), v1::JobSummary::DONE);
  EXPECT_EQ(jobs->jobs(0).finished(), 20);
  const auto workers = (*client)->ListWorkers();
  ASSERT_TRUE(workers.ok());
  ASSERT_EQ(workers->workers_size(), 1);
  EXPECT_EQ(workers->workers(0).id(), "a");
  EXPECT_EQ(workers->workers(0).programs_measured(), 20);
}

TEST_F(DaemonsTest, AStrangerOnTheWorkersStreamIsTurnedAway) {
  const auto coordinator = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(coordinator->Start().ok());
  const auto stub = v1::Workers::NewStub(grpc::CreateChannel(
      coordinator->address(), grpc::InsecureChannelCredentials()));
  for (const bool hello : {false, true}) {
    grpc::ClientContext context;
    const auto stream = stub->Attach(&context);
    v1::WorkerMessage message;
    if (hello) {
      message.mutable_hello();  // one that says nothing
    } else {
      message.mutable_heartbeat();
    }
    stream->Write(message);
    v1::CoordinatorMessage answer;
    EXPECT_FALSE(stream->Read(&answer));
    EXPECT_EQ(stream->Finish().error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
  }
}

// It says no protocol, and knows no field that came later.
TEST_F(DaemonsTest, AWorkerOfTheVersionBeforeRunsABatch) {
  const auto coordinator = NewCoordinator("127.0.0.1:0");
  ASSERT_TRUE(coordinator->Start().ok());
  const auto stub = v1::Workers::NewStub(grpc::CreateChannel(
      coordinator->address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto stream = stub->Attach(&context);
  v1::WorkerMessage message;
  v1::WorkerHello& hello = *message.mutable_hello();
  hello.set_worker_id("old");
  hello.set_platform("cpu");
  hello.set_device_count(2);
  ASSERT_TRUE(stream->Write(message));
  v1::CoordinatorMessage said;
  ASSERT_TRUE(stream->Read(&said));
  ASSERT_TRUE(said.has_welcome());
  EXPECT_EQ(said.welcome().protocols().oldest(), base::kOldestWorkerProtocol);
  EXPECT_EQ(said.welcome().software_version(), base::Version());
  Rows rows;
  absl::Status status;
  std::jthread measuring([&] {
    status = Measure(*coordinator, Request({"", "crash"}), &rows);
  });
  ASSERT_TRUE(stream->Read(&said));
  ASSERT_TRUE(said.has_batch());
  v1::JobUpdate& update = *message.mutable_update();
  update.set_job_id(said.batch().job_id());
  for (const v1::Program& program : said.batch().request().programs()) {
    v1::ProfileResult& result = *update.mutable_event()->mutable_result();
    result.set_key(program.key());
    result.set_outcome(v1::CRASHED);
    ASSERT_TRUE(stream->Write(message));
  }
  update.mutable_event()->mutable_finished();
  ASSERT_TRUE(stream->Write(message));
  measuring.join();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(rows, SizeIs(2));
  context.TryCancel();
  stream->Finish();
}

// Takes what one worker says first.
class OneHello : public v1::Workers::Service {
 public:
  grpc::Status Attach(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<v1::CoordinatorMessage, v1::WorkerMessage>*
          stream) override {
    v1::WorkerMessage message;
    if (stream->Read(&message) && !came.HasBeenNotified()) {
      hello = message.hello();
      came.Notify();
    }
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "");
  }

  v1::WorkerHello hello;
  absl::Notification came;
};

TEST_F(DaemonsTest, AWorkerSaysHowItSpeaksAndMeasures) {
  OneHello service;
  int port = 0;
  const auto server =
      grpc::ServerBuilder()
          .AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                            &port)
          .RegisterService(&service)
          .BuildAndStart();
  FakeBatches batches;
  const auto worker =
      NewWorker("a", absl::StrCat("127.0.0.1:", port), &batches);
  ASSERT_TRUE(worker->Start().ok());
  service.came.WaitForNotification();
  EXPECT_EQ(service.hello.protocols().newest(), base::kWorkerProtocol);
  EXPECT_EQ(service.hello.measuring_protocol(), base::kMeasuringProtocol);
  worker->Stop();
}

TEST_F(DaemonsTest, AWorkerWithoutDevicesDoesNotStart) {
  Worker::Dependencies dependencies;
  dependencies.coordinator_address = "127.0.0.1:1";
  dependencies.run_batch = [](const v1::RunnerRequest&,
                              const worker::OnRunnerEvent&,
                              const std::stop_token&) -> absl::Status {
    return absl::FailedPreconditionError("no plugin there");
  };
  Worker worker(std::move(dependencies));
  EXPECT_EQ(worker.Start(), absl::FailedPreconditionError("no plugin there"));
}

TEST_F(DaemonsTest, AWorkerWhoseCoordinatorIsAwayStops) {
  FakeBatches batches;
  const auto worker = NewWorker("a", "127.0.0.1:1", &batches);
  ASSERT_TRUE(worker->Start().ok());
  worker->Stop();
}

}  // namespace
}  // namespace meshwright::integration
