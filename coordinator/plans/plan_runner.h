// PlanRunner: the plans of a coordinator, from their submission to their end.
//
// Concept: a plan is *durable by replay*. Its request, its pinned devices and
// its state are rows; the planning function decides from stored rows alone. So
// after a crash it is run again from its beginning, and look-ups carry it to
// where it was. A bounded number run at once, by priority and fair share
// (turns.h). A plan that waits for its turn or for devices is a row and holds
// no thread. One whose programs are all known waits for none that is measured.
// A client that goes away ends nothing.
//
//   Submit ─▶ QUEUED ─▶ ANALYSING ─▶ MEASURING ─▶ SEARCHING ─▶ DONE
//                ▲           │ suspended    │            └──▶ FAILED
//     Start ─────┘           ▼              ▼      Cancel ──▶ CANCELLED
//   (unfinished plans)     WAITING (reason): no thread; runs again when the
//                          devices it needs are attached, it may have programs
//                          measured, or the store that failed takes updates
//                          again
//
// A plan with a deadline fails at it in every state; the deadline is in its
// row, so it holds after a restart too. A clock that is set while the plan runs
// moves neither its deadline nor its pauses.
//
// Of several coordinators over one store the leader runs the plans. The others
// take submissions, which the leader finds in the store, and answer what is
// read there; a plan is ended at the leader.
//
// Threads and ownership: Start, Lead, Follow and Stop from one thread, the rest
// from any, in between. The planning function is called on threads of the
// runner. The objects that Dependencies points to outlive it.
// Errors: those of the store of plans. Submit gives kInvalidArgument for a
// request without a module or with a negative timeout, kNotFound for a module
// that was not put,
// kResourceExhausted beyond the quota, kUnavailable while the coordinator
// drains. Cancel gives kUnavailable where another one leads. Cover gives
// kUnimplemented without Dependencies::cover. Where a store is away in mid-plan
// (profiledb/store/away.h), or takes no end of the plan, the plan is put aside:
// it waits, and is run again after one second, two, four, up to a minute.
// Source: docs/decisions/durable-plans.md.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_PLAN_RUNNER_H_
#define MESHWRIGHT_COORDINATOR_PLANS_PLAN_RUNNER_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread_pool.h"
#include "coordinator/jobs/in_flight.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/plans/plan_feed.h"
#include "coordinator/plans/plan_function.h"
#include "coordinator/plans/plan_measurer.h"
#include "coordinator/plans/turns.h"
#include "coordinator/plans/waiting_plans.h"
#include "coordinator/plans/worker_rows.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/profile_store.h"
#include "profiledb/store/unclaimed_modules.h"
#include "proto/v1/plans.pb.h"
#include "proto/v1/profiles.pb.h"

namespace meshwright::plans {

// The limits of a submission, from its namespace's quota.
struct PlanQuota {
  store::PlanLimits limits;
  std::optional<int64_t> programs;  // that the plan may have measured
};

class PlanRunner {
 public:
  struct Options {
    Turns::Options turns;
    // Progress within one state is written at most this often.
    absl::Duration progress_interval = absl::Milliseconds(500);
  };

  struct Dependencies {
    const base::Clock* clock = nullptr;   // of what is written and read
    const base::Clock* steady = nullptr;  // of pauses: it is never set
    store::PlanStore* plans = nullptr;
    store::ProfileStore* profiles = nullptr;  // keeps the modules
    jobs::JobQueue* queue = nullptr;
    PlanFunction plan;
    CoverageFunction cover;  // empty: Cover is not implemented
    std::string holder;      // names this coordinator, for people
    Options options;
  };

  explicit PlanRunner(Dependencies dependencies);
  ~PlanRunner();  // stops
  PlanRunner(const PlanRunner&) = delete;
  PlanRunner& operator=(const PlanRunner&) = delete;

  // Takes the store over and goes on with its unfinished plans: the only
  // coordinator of a store.
  absl::Status Start();
  // The same in an epoch that was begun: the leader of several. Where it fails,
  // this one follows.
  absl::Status Lead(store::Epoch epoch);
  // Stops what runs and takes no further updates: another one leads.
  void Follow();
  // Stops what runs. Unfinished plans stay so, for the next Start.
  void Stop();

  // Takes no more plans. False: some still run after `timeout`.
  bool Drain(absl::Duration timeout);

  // Durable once it returns. `traceparent`: the trace of the call; empty: one
  // begins here.
  absl::StatusOr<v1::PlanRecord> Submit(const v1::SubmitPlanRequest& request,
                                        const std::string& traceparent = "",
                                        const PlanQuota& quota = {});
  // A plan that has ended stays as it is; one that runs ends a moment later.
  absl::StatusOr<v1::PlanRecord> Cancel(store::PlanId id,
                                        const std::string& reason);

  // Holds from here on, after a restart too. Errors: kNotFound for a worker
  // that is not attached; an order that the store did not take holds until
  // this coordinator ends. kUnavailable where another one has just begun to
  // lead.
  absl::StatusOr<v1::WorkerSummary> Order(const v1::WorkerOrder& order);

  // The attached workers, and those of the coordinator before this one that are
  // not back.
  std::vector<v1::WorkerSummary> ListWorkers() const;

  // kUnavailable where it is not clear which devices the plan would be for.
  absl::StatusOr<v1::CoverageReport> Cover(const v1::CoverageRequest& request);

  // Wakes suspended plans whose devices are there, and plans that were put
  // aside; ends those whose deadline has passed. Writes the rows of workers.
  // About once a second.
  void Tick();
  // Of the plans that wait for devices, and not for a turn or the store: since
  // this coordinator leads. Zero: none waits.
  absl::Duration LongestWait();
  // Runs the plans that other coordinators took; about once a second.
  absl::Status TakeSubmitted();

  PlanFeed& feed() { return feed_; }
  store::PlanStore& plans() { return *dependencies_.plans; }
  // The modules that were put for plans to come.
  store::UnclaimedModules& unclaimed() { return unclaimed_; }

 private:
  class Progress;

  // A plan whose store failed in mid-plan.
  struct Aside {
    std::string reason;
    bool is_said = false;  // the store has it as WAITING, with the reason
    int tries = 0;
    absl::Time next;  // when it is run again, of the steady clock
  };

  // Of one that runs.
  struct Running {
    std::stop_source stop;
    std::stop_source give_way;
  };

  absl::Status TakeOver(store::Epoch epoch);
  // Its deadline and whose it is.
  void Know(const v1::PlanRecord& record, store::PlanId id);
  void Post(store::PlanId id);
  void RunNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // For a run of a plan that looks up so far.
  bool TakeMeasuringTurn(store::PlanId id);
  // Appends its end, whatever it does, and stops it where it runs.
  absl::StatusOr<v1::PlanRecord> EndFromOutside(store::PlanId id,
                                                v1::PlanUpdate end);
  absl::Status Fail(store::PlanId id, const absl::Status& why);
  void EndOverdue(store::PlanId id);
  void SaveWorkers();
  void Run(store::PlanId id);
  absl::StatusOr<v1::Plan> CallPlanFunction(const v1::PlanRecord& record,
                                            store::PlanId id,
                                            const Running& running,
                                            std::optional<Needs>& needs,
                                            std::string& row_keys);
  // Writes that the plan waits, where the store did not take that earlier.
  absl::Status SayWaits(store::PlanId id);
  void PutAside(store::PlanId id, const absl::Status& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(store::PlanId id, absl::StatusOr<v1::Plan> plan,
           std::optional<Needs> needs, const std::string& row_keys);
  absl::StatusOr<v1::PlanRecord> Append(store::PlanId id,
                                        v1::PlanUpdate update);
  absl::Status KeepModule(const v1::SubmitPlanRequest& request,
                          const PlanQuota& quota, v1::PlanRecord& record);

  const Dependencies dependencies_;
  PlanFeed feed_;
  jobs::InFlight in_flight_;
  WorkerRows worker_rows_;
  store::UnclaimedModules unclaimed_;

  // Held while an order goes to the queue and the store, so that the last one
  // of a worker is the same in both.
  base::Mutex order_mutex_;

  base::Mutex mutex_;
  store::Epoch epoch_ ABSL_GUARDED_BY(mutex_);
  bool leads_ ABSL_GUARDED_BY(mutex_) = false;
  store::PlanId newest_ ABSL_GUARDED_BY(mutex_);  // that was taken
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // The newest unfinished one of the coordinator before this one.
  store::PlanId taken_over_ ABSL_GUARDED_BY(mutex_);
  // While it measured, by the end of the coordinator before this one.
  std::set<store::PlanId> interrupted_ ABSL_GUARDED_BY(mutex_);
  Turns turns_ ABSL_GUARDED_BY(mutex_);
  std::map<store::PlanId, Running> running_ ABSL_GUARDED_BY(mutex_);
  WaitingPlans waiting_ ABSL_GUARDED_BY(mutex_);  // for devices
  std::map<store::PlanId, Aside> put_aside_ ABSL_GUARDED_BY(mutex_);
  // Of plans that were taken, of the steady clock; one that has ended goes when
  // its time is up.
  std::map<store::PlanId, absl::Time> deadlines_ ABSL_GUARDED_BY(mutex_);
  std::set<store::PlanId> woken_ ABSL_GUARDED_BY(mutex_);  // while they run

  std::unique_ptr<base::ThreadPool> threads_;
};

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_PLAN_RUNNER_H_
