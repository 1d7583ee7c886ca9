// Coordinator: the daemon that takes plan requests and holds the workers.
//
// Concept: a gRPC server with the services of proto/v1 on top of one JobQueue
// and one PlanRunner. It plans through a function handed in, and so knows
// nothing of the graph. Reshardings it plans itself, and remembers
// (coordinator/resharding).
//
//   launcher ══Plans, Compare══▶ ┌───────────┐ ══Attach══ worker daemon
//   people   ══ListJobs, …═════▶ │Coordinator│ ══Attach══ worker daemon
//                                └───────────┘
//   Start ──▶ serving ──Drain──▶ draining (no new plans) ──Stop──▶ stopped
//
// Threads and ownership: Start, Drain and Stop from one thread; the rest from
// any, between Start and Stop. The plan function is called on threads of the
// runner. The objects that Dependencies points to outlive the coordinator.
// Several: of coordinators over one store the leader runs plans and holds the
// workers. The others answer reads, submissions and watches, and send workers
// to the leader. Health: gRPC's health service says NOT_SERVING while it
// drains. Security: coordinator/security/listening.h states where it may
// listen and how. Errors: Start gives those of the store of plans,
// kAlreadyExists for a busy port, kInvalidArgument for an address that is none,
// kPermissionDenied.
#ifndef MESHWRIGHT_COORDINATOR_DAEMON_COORDINATOR_H_
#define MESHWRIGHT_COORDINATOR_DAEMON_COORDINATOR_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/jobs/measurer.h"
#include "coordinator/metrics/figures.h"
#include "coordinator/plans/plan_function.h"
#include "coordinator/plans/plan_questions.h"
#include "coordinator/resharding/answer_cache.h"
#include "coordinator/security/audit_log.h"
#include "coordinator/security/listening.h"
#include "coordinator/security/role.h"
#include "coordinator/service/server_limits.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::daemon {

class Coordinator {
 public:
  struct Dependencies {
    const base::Clock* clock = nullptr;
    plans::PlanFunction plan;
    plans::CoverageFunction cover;  // empty: that RPC is not implemented
    plans::PlanQuestions questions;
    // Keeps the plans; null: in memory, and they end with the coordinator.
    store::PlanStore* plans = nullptr;
    // Other coordinators work on the same store: one of them leads
    // (coordinator/plans/leadership.h).
    bool shares_store = false;
    // Where workers and clients of the others reach this one; empty: where it
    // listens, with the machine's name for every address of it.
    std::string advertised_address;
    // Keeps the modules; needed where there are plans.
    store::ProfileStore* profiles = nullptr;
    // The path or URL of both, of which backups are made; empty: none are.
    std::string store;
    // HOST:PORT, HOST:0 for a free port, or unix:PATH.
    std::string listen_address;
    security::Listening security;
    // A second address, for this process alone (unix:PATH in a folder of its
    // own); empty: none. It asks for tokens as the first does.
    std::string local_address;
    // Null: none. Where there is a store of plans, it has the entries as rows,
    // too (coordinator/audit/stored_audit_log.h).
    security::AuditLog* audit = nullptr;
    // Counts what happens, and where Prometheus reads it (HOST:PORT); null and
    // empty: neither.
    metrics::Figures* figures = nullptr;
    std::string metrics_address;
    // Where people look at the dashboard (HOST:PORT), protected as the first
    // address is; empty: nowhere.
    std::string dashboard_address;
    // Called about once a second, after the queue was looked after: a
    // coordinator that hangs stops calling. One whose database hangs goes on.
    // Empty: nobody is.
    std::function<void()> alive;
    jobs::JobQueue::Options queue;
    resharding::AnswerCache::Options reshardings;
    service::ServerLimits limits;
  };

  explicit Coordinator(Dependencies dependencies);
  ~Coordinator();  // stops
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // Listens and, if it leads, takes up unfinished plans. Once per object.
  // Errors: see above.
  absl::Status Start();
  // Reads the token file now, which is read within ten seconds after a change
  // too. Checks the certificates, which new connections take up by themselves
  // (Listening::reload_seconds). Watches whose tokens do not count any more
  // end. Errors: what is wrong with the files; old tokens stay in force.
  absl::Status Reload();
  // For calls inside this process (security::Guard::AddLocalToken).
  absl::StatusOr<std::string> NewLocalToken(security::Role role);
  // Refuses new plans and waits for the running ones. False: some still run
  // after `timeout`; Stop then interrupts them. Their measurements are stored.
  bool Drain(absl::Duration timeout);
  // Ends all calls, interrupts running plans and gives up the leadership.
  // Returns when nothing runs any more; may be called again.
  void Stop();

  // Waits for the term of an earlier leader to end, and no longer. Errors:
  // kFailedPrecondition where another coordinator leads.
  absl::Status AwaitLeadership();

  // Where it listens, with the port that was chosen.
  const std::string& address() const;
  // Where the metrics are; empty: nowhere.
  std::string metrics_address() const;
  // The dashboard's URL; empty: there is none.
  std::string dashboard_url() const;
  // Lives as long as the coordinator.
  jobs::JobQueue& queue();
  // A measurer of its own for work inside this process.
  std::unique_ptr<jobs::Measurer> NewMeasurer(std::stop_token stop);

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace meshwright::daemon

#endif  // MESHWRIGHT_COORDINATOR_DAEMON_COORDINATOR_H_
