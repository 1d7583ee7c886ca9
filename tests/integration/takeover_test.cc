// Several meshwright-coordinator over one real PostgreSQL: the leader is killed
// or put to sleep, and another goes on with its plans.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/rpc/channel.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/postgres/testing/postgres_server.h"
#include "proto/v1/services.grpc.pb.h"
#include "tests/bench/figure.h"
#include "tests/integration/fake_batches.h"
#include "tests/integration/process.h"
#include "worker/service/worker.h"

namespace meshwright::integration {
namespace {

using client::PlanningClient;

// Who asks without a pause takes the processors from those it waits for.
constexpr absl::Duration kBetweenLooks = absl::Milliseconds(20);
constexpr absl::Duration kTakeover = absl::Seconds(10);

class TakeoverTest : public testing::Test {
 protected:
  // Three coordinators, of which the first leads, and a worker that knows them
  // in another order.
  void SetUp() override {
    auto server = postgres::PostgresServer::Start({});
    if (absl::IsNotFound(server.status())) {
      GTEST_SKIP() << "PostgreSQL's server is not installed";
    }
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    url_ = server_->NewStoreUrl();
    for (int i = 0; i < 3; ++i) {
      coordinators_.push_back(
          std::make_unique<Process>(std::vector<std::string>{
              "meshwright-coordinator", "--json", "--listen", "127.0.0.1:0",
              "--store", url_}));
      const auto said =
          nlohmann::json::parse(coordinators_[i]->ReadLine(), nullptr, false);
      ASSERT_TRUE(said.is_object());
      addresses_.push_back(said.value("address", ""));
      auto client = PlanningClient::Connect(addresses_[i]);
      ASSERT_TRUE(client.ok()) << client.status();
      clients_.push_back(*std::move(client));
      const auto channel =
          base::OpenChannel(addresses_[i], base::ChannelSecurity());
      ASSERT_TRUE(channel.ok()) << channel.status();
      stubs_.push_back(v1::Planning::NewStub(*channel));
    }
    worker::Worker::Dependencies dependencies;
    dependencies.coordinator_address =
        absl::StrCat(addresses_[2], ",", addresses_[0], ",", addresses_[1]);
    dependencies.name = "words";
    dependencies.host = "here";
    dependencies.devices.set_platform("cpu");
    dependencies.devices.set_device_count(2);
    dependencies.run_batch = batches_.function();
    dependencies.heartbeat = absl::Milliseconds(500);
    dependencies.longest_backoff = absl::Milliseconds(500);
    worker_ = std::make_unique<worker::Worker>(std::move(dependencies));
    ASSERT_TRUE(worker_->Start().ok());
  }
  void TearDown() override {
    if (worker_ != nullptr) worker_->Stop();
  }

  // As this coordinator answers; a client goes on to the leader.
  v1::ListWorkersResponse AskAt(int coordinator) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(5)));
    v1::ListWorkersResponse workers;
    stubs_[coordinator]->ListWorkers(&context, v1::ListWorkersRequest(),
                                     &workers);
    return workers;
  }
  static bool HasState(const v1::WorkerSummary& worker) {
    return worker.state() != v1::WorkerSummary::AWAY &&
           worker.state() != v1::WorkerSummary::STATE_UNSPECIFIED;
  }
  // Whether it is attached there.
  bool HasWorker(int coordinator) {
    const v1::ListWorkersResponse workers = AskAt(coordinator);
    return workers.workers_size() == 1 && HasState(workers.workers(0));
  }
  // Whether a follower answers, within a moment, with the leader's worker, and
  // with whom to ask for more.
  bool SendsTo(int follower, const std::string& leader) {
    const absl::Time began = absl::Now();
    do {
      const v1::ListWorkersResponse workers = AskAt(follower);
      if (workers.workers_size() == 1 && workers.workers(0).id() == "words" &&
          absl::StrContains(workers.workers(0).reason(), leader)) {
        return true;
      }
      absl::SleepFor(kBetweenLooks);
    } while (absl::Now() - began < kTakeover);
    return false;
  }
  // The one that the worker goes to next, and how long that takes.
  absl::Duration AwaitLeader(const std::vector<int>& candidates, int* leader) {
    const absl::Time began = absl::Now();
    while (absl::Now() - began < absl::Minutes(1)) {
      for (const int candidate : candidates) {
        *leader = candidate;
        if (HasWorker(candidate)) return absl::Now() - began;
      }
      absl::SleepFor(kBetweenLooks);
    }
    ADD_FAILURE() << "nobody leads";
    return absl::InfiniteDuration();
  }

  std::string Submit(int coordinator) {
    v1::SubmitPlanRequest request;
    v1::PlanRequest& plan = *request.mutable_request();
    plan.set_hlo_module(segmenter::ReadSample("gpt2_tiny"));
    plan.set_model_name("gpt2_tiny");
    plan.mutable_mesh()->add_shape(1);
    plan.mutable_mesh()->add_shape(2);
    plan.set_platform("cpu");
    const auto record = clients_[coordinator]->SubmitPlan(request);
    EXPECT_TRUE(record.ok()) << record.status();
    return record.ok() ? record->id() : "";
  }

  // Every update of a plan, in the order in which a watch sees them.
  std::vector<v1::PlanUpdate> Watch(int coordinator, const std::string& id) {
    std::vector<v1::PlanUpdate> updates;
    v1::WatchPlanRequest request;
    request.set_id(id);
    const absl::Status status = clients_[coordinator]->WatchPlan(
        request,
        [&](const v1::PlanUpdate& update) { updates.push_back(update); }, {});
    EXPECT_TRUE(status.ok()) << status;
    return updates;
  }
  static void ExpectWhole(const std::vector<v1::PlanUpdate>& updates) {
    ASSERT_FALSE(updates.empty());
    for (size_t i = 0; i < updates.size(); ++i) {
      EXPECT_EQ(updates[i].sequence(), static_cast<int64_t>(i) + 1);
    }
    EXPECT_EQ(updates.back().state(), v1::DONE) << updates.back().reason();
    EXPECT_TRUE(updates.back().plan().feasible());
  }

  FakeBatches batches_{"fake 1", 3};
  std::unique_ptr<postgres::PostgresServer> server_;
  std::string url_;
  std::vector<std::unique_ptr<Process>> coordinators_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<PlanningClient>> clients_;
  std::vector<std::unique_ptr<v1::Planning::Stub>> stubs_;
  std::unique_ptr<worker::Worker> worker_;
};

TEST_F(TakeoverTest, AnotherGoesOnWhenTheLeaderIsKilled) {
  int leader = -1;
  AwaitLeader({0, 1, 2}, &leader);
  ASSERT_EQ(leader, 0);
  const std::string id = Submit(1);
  std::vector<v1::PlanUpdate> seen;
  std::jthread watching([&] { seen = Watch(2, id); });
  batches_.AwaitHeld();

  coordinators_[0]->Signal(SIGKILL);
  EXPECT_EQ(coordinators_[0]->Wait(), -SIGKILL);
  batches_.Release();
  const absl::Duration took = AwaitLeader({1, 2}, &leader);
  EXPECT_LE(took, kTakeover);
  PrintFigure(
      "three coordinators on PostgreSQL, the leader killed: until the "
      "worker has another",
      "≤ 10 s", absl::StrFormat("%.1f s", absl::ToDoubleSeconds(took)));
  watching.join();
  ExpectWhole(seen);
  const auto plan = clients_[1]->GetPlan(id);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->state(), v1::DONE);
}

// Its metrics would have a failed call for each, and an alert.
TEST_F(TakeoverTest, AFollowerIsAskedOnceForWhatIsTheLeaders) {
  int leader = -1;
  AwaitLeader({0, 1, 2}, &leader);
  ASSERT_EQ(leader, 0);
  ASSERT_TRUE(clients_[1]->ListJobs().ok());
  coordinators_[1]->Signal(SIGSTOP);
  ASSERT_TRUE(coordinators_[1]->AwaitStopped());
  const auto jobs = clients_[1]->ListJobs();
  EXPECT_TRUE(jobs.ok()) << jobs.status();
  coordinators_[1]->Signal(SIGCONT);
}

// Asked for first, before a refusal has named the leader.
TEST_F(TakeoverTest, AWorkerHasItsStateWhereverItIsAskedFor) {
  int leader = -1;
  AwaitLeader({0, 1, 2}, &leader);
  ASSERT_EQ(leader, 0);
  for (const int follower : {1, 2}) {
    const auto workers = clients_[follower]->ListWorkers();
    ASSERT_TRUE(workers.ok()) << workers.status();
    ASSERT_EQ(workers->workers_size(), 1);
    EXPECT_EQ(workers->workers(0).id(), "words");
    EXPECT_TRUE(HasState(workers->workers(0)));
  }
}

TEST_F(TakeoverTest, ACallForTheLeaderMayBeMadeAnywhere) {
  int leader = -1;
  AwaitLeader({0, 1, 2}, &leader);
  ASSERT_EQ(leader, 0);
  const std::string id = Submit(1);
  batches_.AwaitHeld();
  for (const int follower : {1, 2}) {
    PlanningClient& client = *clients_[follower];
    const auto jobs = client.ListJobs();
    ASSERT_TRUE(jobs.ok()) << jobs.status();
    ASSERT_GE(jobs->jobs_size(), 1);
    v1::JobRequest job;
    job.set_job(jobs->jobs(0).id());
    EXPECT_TRUE(client.GetJob(job).ok());
    v1::WorkerRequest worker;
    worker.set_worker("words");
    const auto drained = client.DrainWorker(worker);
    EXPECT_TRUE(drained.ok()) << drained.status();
    const auto resumed = client.ResumeWorker(worker);
    EXPECT_TRUE(resumed.ok()) << resumed.status();
  }
  const auto cancelled = clients_[2]->CancelPlan(id);
  EXPECT_TRUE(cancelled.ok()) << cancelled.status();
  batches_.Release();
  Watch(1, id);
  const auto plan = clients_[1]->GetPlan(id);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->state(), v1::CANCELLED);
}

TEST_F(TakeoverTest, TheNextLeaderNamesTheWorkerThatIsToComeBack) {
  int leader = -1;
  AwaitLeader({0, 1, 2}, &leader);
  ASSERT_EQ(leader, 0);
  const absl::Time began = absl::Now();
  while (server_->Query(url_, "SELECT COUNT(*) FROM workers") != 1) {
    ASSERT_LT(absl::Now() - began, absl::Minutes(1));
    absl::SleepFor(kBetweenLooks);
  }
  coordinators_[0]->Signal(SIGKILL);
  EXPECT_EQ(coordinators_[0]->Wait(), -SIGKILL);
  worker_->Stop();  // nobody leads, to whom it could say so
  std::optional<v1::WorkerSummary> known;
  while (!known.has_value()) {
    ASSERT_LT(absl::Now() - began, absl::Minutes(1));
    for (const int candidate : {1, 2}) {
      const auto workers = clients_[candidate]->ListWorkers();
      if (workers.ok() && workers->workers_size() > 0 &&
          workers->workers(0).state() == v1::WorkerSummary::AWAY) {
        known = workers->workers(0);
      }
    }
    absl::SleepFor(kBetweenLooks);
  }
  EXPECT_EQ(known->id(), "words");
  EXPECT_EQ(known->host(), "here");
  EXPECT_EQ(known->device_count(), 2);
  EXPECT_EQ(known->state(), v1::WorkerSummary::AWAY);
  EXPECT_TRUE(absl::StrContains(known->reason(), "has not come back"));
}

TEST_F(TakeoverTest, OneWithAWorkerOfItsOwnDoesNotFollow) {
  int leader = -1;
  AwaitLeader({0, 1, 2}, &leader);
  Process up({"meshwright", "up", "--store", url_, "--listen", "127.0.0.1:0"});
  EXPECT_EQ(up.Wait(), 2);
  EXPECT_TRUE(absl::StrContains(
      up.Errors(), absl::StrCat("the coordinator at ", addresses_[leader],
                                " runs the plans of this store")))
      << up.Errors();
}

TEST_F(TakeoverTest, ALeaderThatSleptFollowsWhenItWakes) {
  int leader = -1;
  AwaitLeader({0, 1, 2}, &leader);
  ASSERT_EQ(leader, 0);
  const std::string id = Submit(0);
  batches_.AwaitHeld();
  std::vector<v1::PlanUpdate> seen;
  std::jthread watching([&] { seen = Watch(1, id); });
  EXPECT_TRUE(clients_[2]->ListJobs().ok());  // at the leader

  coordinators_[0]->Signal(SIGSTOP);
  batches_.Release();
  const absl::Time stopped = absl::Now();
  while (server_->Query(url_, "SELECT epoch FROM epochs") == 1 &&
         absl::Now() - stopped < kTakeover) {
    absl::SleepFor(kBetweenLooks);
  }
  EXPECT_EQ(server_->Query(url_, "SELECT epoch FROM epochs"), 2);
  // The kernel keeps its connection: only the answer is missing.
  EXPECT_TRUE(absl::IsDeadlineExceeded(clients_[2]->ListJobs().status()));
  const auto jobs = clients_[2]->ListJobs();
  EXPECT_TRUE(jobs.ok()) << jobs.status();
  coordinators_[0]->Signal(SIGCONT);
  AwaitLeader({1, 2}, &leader);
  watching.join();
  ExpectWhole(seen);
  EXPECT_TRUE(SendsTo(0, addresses_[leader]));
  const auto workers = clients_[0]->ListWorkers();
  ASSERT_TRUE(workers.ok()) << workers.status();
  ASSERT_EQ(workers->workers_size(), 1);
  EXPECT_TRUE(HasState(workers->workers(0)));
  const auto plan = clients_[0]->GetPlan(id);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->state(), v1::DONE);
}

}  // namespace
}  // namespace meshwright::integration
