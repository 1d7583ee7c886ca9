#include "tests/integration/kill_round.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/stages/staged_plan.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "tests/integration/plan_history.h"

namespace meshwright::integration {
namespace {

constexpr int kCoordinators = 3;  // of one database
constexpr int kClients = 3;
constexpr int kWorkers = 2;
constexpr int kWorkerKillsOfALife = 6;  // of a coordinator's
constexpr uint64_t kMachine = 7;        // of made_up_worker.cc

// A coordinator that is started again answers within a second.
constexpr absl::Duration kBetweenCalls = absl::Milliseconds(20);

// A step, and at which of its passes at the latest a process dies there.
struct Point {
  const char* name;
  int passes;
  bool is_of_leaders = true;
};

constexpr Point kCoordinatorPoints[] = {
    {"epoch.begun", 1},
    {"module.kept", 3, false},
    {"plan.submitted", 3, false},
    {"device.known", 3},
    {"device.pinned", 3},
    {"plan.updated", 25},
    {"lease.given", 4},
    {"result.received", 120},
    {"row.uncommitted", 40},
    {"row.committed", 40},
    {"commit.open", 80, false},
    {"commit.done", 80, false},
    {"lease.ended", 4},
    {"lease.resumed", 1},
    {"lease.stored", 4},
    {"lease.acknowledged", 4},
    {"plan.made", 2},
    {"plan.done", 2},
};
constexpr Point kWorkerPoints[] = {
    {"worker.leased", 12},
    {"worker.measured", 600},
    {"worker.answered", 600},
    {"worker.finished", 12},
};

bool IsOfLeaders(const std::string& point) {
  return std::ranges::any_of(kCoordinatorPoints, [&](const Point& it) {
    return it.name == point && it.is_of_leaders;
  });
}

std::string DrawPass(const Point& point, std::mt19937_64& random) {
  return absl::StrCat(point.name, ":", 1 + random() % point.passes);
}

std::vector<std::string> Variables(const std::string& failpoint) {
  if (failpoint.empty()) return {};
  return {"MESHWRIGHT_FAILPOINT=" + failpoint};
}

v1::PlanRequest MakeRequest(const char* name, const std::vector<int64_t>& mesh,
                            int micro_batches = 0) {
  v1::PlanRequest request;
  request.set_model_name(name);
  request.set_hlo_module(segmenter::ReadSample(name));
  for (const int64_t size : mesh) request.mutable_mesh()->add_shape(size);
  if (micro_batches > 0) {
    request.mutable_stages()->set_micro_batches(micro_batches);
    request.mutable_stages()->set_host_bytes_per_second(1e12);
  }
  return request;
}

// The choice of the plan; neither how its rows came nor of which machine.
std::string DescribeChoice(const v1::Plan& plan) {
  std::string choice = absl::StrCat(plan.predicted().step_seconds(), " s, ",
                                    plan.predicted().peak_bytes(), " bytes:");
  const auto add = [&](const auto& segments) {
    for (const v1::PlanSegment& segment : segments) {
      absl::StrAppend(&choice, " ", segment.type(), ".", segment.config());
    }
  };
  add(plan.segments());
  for (const v1::PlanStage& stage : plan.stages()) {
    absl::StrAppend(&choice, " |");
    add(stage.segments());
  }
  return choice;
}

std::string MakePlan(const v1::PlanRequest& request) {
  store::FakeProfileStore store;
  jobs::FakeMeasurer measurer;
  measurer.machine = kMachine;
  const auto progress = [](const v1::PlanProgress&) {};
  const auto plan =
      request.has_stages()
          ? stages::MakeStagedPlan(request, {&store, &measurer}, progress)
          : planning::MakePlan(request, {&store, &measurer}, progress);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? DescribeChoice(*plan) : "";
}

}  // namespace

const std::vector<KillRound::Model>& KillRound::Models() {
  static const auto* const models = [] {
    auto* made = new std::vector<Model>;
    for (v1::PlanRequest request :
         {MakeRequest("t5_tiny", {1, 2}), MakeRequest("scan_tiny", {1, 2}),
          MakeRequest("convnet_tiny", {1, 2}),
          MakeRequest("gpt2_2l", {1, 2}, 8)}) {
      std::string plan = MakePlan(request);
      made->push_back({std::move(request), std::move(plan)});
    }
    return made;
  }();
  return *models;
}

// Submits one plan after another and sees each to its end.
class KillRound::Client {
 public:
  Client(KillRound* round, int number, uint64_t seed)
      : round_(round), number_(number), random_(seed) {}

  void Run() {
    for (int plan = 0; round_->TakesPlans(); ++plan) {
      const Model& model = Models()[random_() % Models().size()];
      v1::SubmitPlanRequest request;
      *request.mutable_request() = model.request;
      // Part of every key: a third of the plans may share all their programs
      // with those of other clients.
      const bool shares = random_() % 3 == 0;
      request.mutable_request()->set_xla_flags(absl::StrCat(
          "--xla_made_up=", plan, shares ? "" : absl::StrCat(".", number_)));
      request.set_owner(absl::StrCat("client ", number_));
      request.set_request_id(absl::StrCat("plan ", plan));
      PlanHistory history;
      const bool cancels = random_() % 12 == 0;
      if (!See(request, cancels, history)) return;
      Judge(model, cancels, history);
    }
  }

  const Tally& tally() const { return tally_; }

 private:
  // To its end. False: the round is over.
  bool See(const v1::SubmitPlanRequest& request, bool cancels,
           PlanHistory& history) {
    while (!history.has_ended()) {
      if (testing::Test::HasFailure()) return false;
      if (service_ == nullptr) service_ = round_->Connect(turn_);
      if (service_ == nullptr) return false;
      const absl::Status status = Follow(*service_, request, cancels, history);
      if (status.ok()) continue;
      // On with another coordinator, or with its next life.
      service_.reset();
      absl::SleepFor(kBetweenCalls);
      if (!absl::IsUnavailable(status)) {
        round_->Report(absl::StrCat(history.id(), ": ", status.ToString()));
        return false;
      }
    }
    return true;
  }

  absl::Status Follow(client::PlanningClient& service,
                      const v1::SubmitPlanRequest& request, bool cancels,
                      PlanHistory& history) {
    ASSIGN_OR_RETURN(const v1::PlanRecord submitted,
                     service.SubmitPlan(request));
    round_->Report(history.TakeRecord(submitted));
    if (cancels) {
      ASSIGN_OR_RETURN(const v1::PlanRecord record,
                       service.CancelPlan(history.id()));
      round_->Report(history.TakeRecord(record));
    }
    ASSIGN_OR_RETURN(const v1::PlanRecord record,
                     service.GetPlan(history.id()));
    round_->Report(history.TakeRecord(record));
    v1::WatchPlanRequest watch;
    watch.set_id(history.id());
    if (random_() % 4 != 0) watch.set_after(history.last());
    history.BeginStream(watch.after());
    RETURN_IF_ERROR(service.WatchPlan(watch,
                                      [&](const v1::PlanUpdate& update) {
                                        round_->Report(
                                            history.TakeUpdate(update));
                                      },
                                      {}));
    round_->Report(history.TakeEnd());
    return absl::OkStatus();
  }

  void Judge(const Model& model, bool cancels, const PlanHistory& history) {
    ++tally_.plans;
    tally_.updates += history.last();
    if (cancels && history.state() == v1::CANCELLED) {
      ++tally_.cancelled;
      return;
    }
    if (history.state() != v1::DONE) {
      round_->Report(absl::StrCat(history.id(), " ended as ",
                                  v1::PlanState_Name(history.state())));
      return;
    }
    if (history.plan().programs().failed() > 0) {
      ++tally_.lost_programs;  // their workers died three times
      return;
    }
    const std::string choice = DescribeChoice(history.plan());
    if (choice != model.plan) {
      round_->Report(absl::StrCat(history.id(), " of ",
                                  model.request.model_name(), " is ", choice,
                                  " and not ", model.plan));
    }
  }

  KillRound* const round_;
  const int number_;
  std::mt19937_64 random_;
  size_t turn_ = 0;
  std::unique_ptr<client::PlanningClient> service_;
  Tally tally_;
};

KillRound::KillRound(const std::string& folder, const std::string& database,
                     uint64_t seed)
    : store_(database.empty() ? folder + "/store" : database),
      log_path_(folder + "/measured"),
      random_(seed),
      rows_(store_, log_path_),
      coordinators_(database.empty() ? 1 : kCoordinators),
      workers_(kWorkers) {
  for (size_t i = 0; i < coordinators_.size(); ++i) {
    coordinators_[i].address = absl::StrCat("unix:", folder, "/socket", i);
  }
  for (int i = 0; i < kWorkers; ++i) workers_[i].number = i;
}

KillRound::~KillRound() = default;

void KillRound::Report(const std::string& fault) {
  if (fault.empty()) return;
  ADD_FAILURE() << fault;
  KillCoordinators();  // whoever waits for an end sees the fault then
}

void KillRound::KillCoordinators() {
  base::MutexLock lock(&mutex_);
  for (const pid_t running : running_) kill(running, SIGKILL);
}

bool KillRound::TakesPlans() {
  base::MutexLock lock(&mutex_);
  return takes_plans_;
}

std::unique_ptr<client::PlanningClient> KillRound::Connect(size_t& turn) {
  while (true) {
    {
      base::MutexLock lock(&mutex_);
      if (is_over_) return nullptr;
    }
    if (testing::Test::HasFailure()) return nullptr;
    const Coordinator& next = coordinators_[turn++ % coordinators_.size()];
    auto client = client::PlanningClient::Connect(next.address);
    if (client.ok()) return *std::move(client);
    absl::SleepFor(kBetweenCalls);
  }
}

std::string KillRound::NextCoordinatorFailpoint() {
  if (points_left_.empty()) {
    for (const Point& point : kCoordinatorPoints) {
      points_left_.push_back(DrawPass(point, random_));
    }
    std::shuffle(points_left_.begin(), points_left_.end(), random_);
  }
  std::string next = std::move(points_left_.back());
  points_left_.pop_back();
  return next;
}

std::string KillRound::NextWorkerFailpoint() {
  return DrawPass(kWorkerPoints[random_() % std::size(kWorkerPoints)], random_);
}

void KillRound::StartCoordinator(Coordinator& coordinator,
                                 const std::string& failpoint) {
  coordinator.failpoint = failpoint;
  coordinator.process = std::make_unique<Process>(
      std::vector<std::string>{"meshwright-coordinator", "--json", "--listen",
                               coordinator.address, "--store", store_},
      Variables(failpoint));
  {
    base::MutexLock lock(&mutex_);
    if (coordinator.process->pid() > 0) {
      running_.insert(coordinator.process->pid());
    }
  }
  // Empty: it died before it said where it listens.
  coordinator.process->ReadLine();
}

void KillRound::StartWorker(Worker& worker, const std::string& failpoint) {
  worker.failpoint = failpoint;
  std::vector<std::string> variables = Variables(failpoint);
  if (!failpoint.empty()) {
    variables.push_back(absl::StrCat("MADE_UP_RUNNER_KILLS=", random_()));
  }
  std::vector<std::string> addresses;
  for (const Coordinator& coordinator : coordinators_) {
    addresses.push_back(coordinator.address);
  }
  std::shuffle(addresses.begin(), addresses.end(), random_);
  worker.process = std::make_unique<Process>(
      std::vector<std::string>{
          "made-up-worker", absl::StrJoin(addresses, ","),
          absl::StrCat("worker-", worker.number, ".", worker.starts++),
          log_path_},
      variables);
}

void KillRound::CheckRows() {
  const auto fault = rows_.Check();
  if (!fault.ok()) {
    ADD_FAILURE() << fault.status();
  } else {
    Report(*fault);
  }
}

// Not every coordinator passes its failpoint: no lease may be held on when it
// starts.
void KillRound::KillAnywhere() {
  Coordinator& coordinator = coordinators_[random_() % coordinators_.size()];
  coordinator.failpoint = "coordinator.anywhere";
  coordinator.process->Signal(SIGKILL);
}

// Of whichever process comes first, which is started again.
void KillRound::AwaitKill(Tally& tally) {
  siginfo_t ended = {};
  ASSERT_EQ(waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT), 0);
  for (Coordinator& coordinator : coordinators_) {
    if (ended.si_pid != coordinator.process->pid()) continue;
    {
      base::MutexLock lock(&mutex_);
      running_.erase(ended.si_pid);
    }
    const int status = coordinator.process->Wait();
    ASSERT_EQ(status, -SIGKILL)
        << coordinator.failpoint << ": " << coordinator.process->Errors();
    const std::string point =
        coordinator.failpoint.substr(0, coordinator.failpoint.find(':'));
    ++tally.kills[point];
    tally.leader_kills += coordinators_.size() == 1 || IsOfLeaders(point);
    worker_kills_ = 0;
    CheckRows();
    StartCoordinator(coordinator, NextCoordinatorFailpoint());
    return;
  }
  for (Worker& worker : workers_) {
    if (ended.si_pid != worker.process->pid()) continue;
    const int status = worker.process->Wait();
    ASSERT_EQ(status, -SIGKILL)
        << worker.failpoint << ": " << worker.process->Errors();
    ++tally.kills[worker.failpoint.substr(0, worker.failpoint.find(':'))];
    StartWorker(worker, NextWorkerFailpoint());
    if (++worker_kills_ == kWorkerKillsOfALife) KillAnywhere();
    return;
  }
  FAIL() << "a process that is nobody's ended: " << ended.si_pid;
}

void KillRound::Run(int kills, Tally& tally) {
  Models();  // before anything waits
  for (const Point& point : kCoordinatorPoints) tally.kills[point.name];
  for (const Point& point : kWorkerPoints) tally.kills[point.name];
  for (Coordinator& coordinator : coordinators_) {
    StartCoordinator(coordinator, NextCoordinatorFailpoint());
  }
  for (Worker& worker : workers_) StartWorker(worker, NextWorkerFailpoint());
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<Client>(this, i, random_()));
    threads.emplace_back([client = clients.back().get()] { client->Run(); });
  }
  const int64_t leaders = tally.leader_kills;
  for (int i = 0; i < kills || tally.leader_kills == leaders; ++i) {
    if (testing::Test::HasFailure()) break;
    AwaitKill(tally);
  }
  // Those that follow live to the end.
  for (Worker& worker : workers_) worker.process.reset();
  {
    base::MutexLock lock(&mutex_);
    running_.clear();
  }
  for (Coordinator& coordinator : coordinators_) coordinator.process.reset();
  CheckRows();
  const bool is_clean = !testing::Test::HasFailure();
  {
    base::MutexLock lock(&mutex_);
    takes_plans_ = false;
    is_over_ = !is_clean;
  }
  if (is_clean) {
    for (Coordinator& coordinator : coordinators_) {
      StartCoordinator(coordinator, "");
    }
    for (Worker& worker : workers_) StartWorker(worker, "");
  }
  threads.clear();
  if (is_clean) {
    {
      base::MutexLock lock(&mutex_);
      running_.clear();
    }
    for (Coordinator& coordinator : coordinators_) {
      Process& process = *coordinator.process;
      process.Signal(SIGTERM);
      EXPECT_EQ(process.Wait(), 0) << process.Errors();
    }
    for (Worker& worker : workers_) worker.process.reset();
    CheckRows();
  }
  for (const auto& client : clients) {
    tally.plans += client->tally().plans;
    tally.cancelled += client->tally().cancelled;
    tally.lost_programs += client->tally().lost_programs;
    tally.updates += client->tally().updates;
  }
  std::ifstream runners(log_path_ + ".runners");
  for (std::string key; std::getline(runners, key);) ++tally.runner_kills;
  tally.rows += rows_.rows();
  tally.measured += rows_.measured();
  tally.acknowledged += rows_.acknowledged();
}

}  // namespace meshwright::integration
