#include "tests/integration/soak_load.h"

#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "coordinator/client/planning_client.h"
#include "tests/integration/simulated_workers.h"

namespace meshwright::integration {
namespace {

using client::PlanningClient;

constexpr int kPlanners = 2;
constexpr int kWorkersThatStay = 12;
constexpr int kWorkersThatLeave = 4;

// Callers enter for one call at a time. Whoever closes it waits for those
// inside.
class Gate {
 public:
  // False: it is over.
  bool Enter() {
    base::MutexLock lock(&mutex_);
    const auto may = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return is_open_ || is_over_;
    };
    mutex_.Await(absl::Condition(&may));
    if (is_over_) return false;
    ++inside_;
    return true;
  }
  void Leave() {
    base::MutexLock lock(&mutex_);
    --inside_;
  }
  void Open() {
    base::MutexLock lock(&mutex_);
    is_open_ = true;
  }
  // Whether it was open.
  bool Close() {
    base::MutexLock lock(&mutex_);
    const bool was_open = std::exchange(is_open_, false);
    const auto is_empty = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return inside_ == 0;
    };
    mutex_.Await(absl::Condition(&is_empty));
    return was_open;
  }
  void End() {
    base::MutexLock lock(&mutex_);
    is_over_ = true;
  }

 private:
  base::Mutex mutex_;
  bool is_open_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  int inside_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Whoever shares a store leads some seconds after it listens.
absl::Status AwaitLeader(PlanningClient& client) {
  const absl::Time begin = absl::Now();
  while (true) {
    absl::Status status = client.ListWorkers().status();
    if (!absl::IsUnavailable(status) || absl::Now() - begin > kSoakPatience) {
      return status;
    }
    absl::SleepFor(absl::Milliseconds(50));
  }
}

}  // namespace

struct SoakLoad::Parts {
  std::string address;
  Tokens tokens;
  SoakRecord record;
  Gate gate;
  std::unique_ptr<PlanningClient> admin;
  std::unique_ptr<SimulatedWorkers> staying, leaving;
  int comings = 0;
  std::vector<std::unique_ptr<SoakCaller>> callers;
  std::vector<std::jthread> threads;  // last: they end before the rest

  std::unique_ptr<SimulatedWorkers> Attach(const std::string& name, int count) {
    record.Count([&](SoakTally& tally) { tally.workers += count; });
    return std::make_unique<SimulatedWorkers>(
        address,
        SimulatedWorkers::Options{
            .name = name, .count = count, .token = tokens.work},
        [](const v1::RunnerRequest&) {});
  }

  absl::Status MakeCallers() {
    for (int i = 0; i < kPlanners; ++i) {
      ASSIGN_OR_RETURN(auto planner,
                       MakePlanner(&record, i, address, tokens.submit));
      callers.push_back(std::move(planner));
    }
    ASSIGN_OR_RETURN(auto reader,
                     MakeReader(&record, address, tokens.submit, tokens.admin));
    ASSIGN_OR_RETURN(auto stranger, MakeStranger(&record, address,
                                                 tokens.submit, tokens.wrong));
    callers.push_back(std::move(reader));
    callers.push_back(std::move(stranger));
    return absl::OkStatus();
  }
};

SoakLoad::SoakLoad(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

absl::StatusOr<std::unique_ptr<SoakLoad>> SoakLoad::Start(
    const std::string& address, const Tokens& tokens) {
  auto parts = std::make_unique<Parts>();
  parts->address = address;
  parts->tokens = tokens;
  ASSIGN_OR_RETURN(
      parts->admin,
      PlanningClient::Connect(address, {.token = tokens.admin}, kSoakPatience));
  RETURN_IF_ERROR(AwaitLeader(*parts->admin));
  RETURN_IF_ERROR(parts->MakeCallers());
  parts->staying = parts->Attach("stays-", kWorkersThatStay);
  for (const auto& caller : parts->callers) {
    parts->threads.emplace_back([gate = &parts->gate, it = caller.get()] {
      while (gate->Enter()) {
        it->Call();
        gate->Leave();
      }
    });
  }
  std::unique_ptr<SoakLoad> load(new SoakLoad(std::move(parts)));
  load->ReplaceWorkers();
  return load;
}

SoakLoad::~SoakLoad() {
  parts_->gate.End();
  parts_->threads.clear();
}

void SoakLoad::Resume() { parts_->gate.Open(); }

void SoakLoad::Pause() { parts_->gate.Close(); }

void SoakLoad::CollectGarbage() {
  const bool was_open = parts_->gate.Close();
  v1::GcLimits limits;
  limits.set_max_plan_days(0);
  limits.set_max_bytes(0);
  const auto report = parts_->admin->CollectGarbage(limits);
  parts_->record.Expect(report.status(), "garbage collection");
  if (report.ok()) {
    parts_->record.Count([&](SoakTally& tally) {
      tally.rows_removed += report->rows();
      tally.plans_removed += report->plans();
    });
  }
  if (was_open) parts_->gate.Open();
}

void SoakLoad::ReplaceWorkers() {
  parts_->leaving.reset();
  parts_->leaving = parts_->Attach(
      absl::StrCat("leaves-", ++parts_->comings, "-"), kWorkersThatLeave);
}

SoakTally SoakLoad::tally() const { return parts_->record.tally(); }

absl::Status SoakLoad::fault() const { return parts_->record.fault(); }

}  // namespace meshwright::integration
