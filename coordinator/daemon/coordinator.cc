#include "coordinator/daemon/coordinator.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "base/mutex.h"
#include "base/rpc/acceptor.h"
#include "base/rpc/listening_sockets.h"
#include "base/rpc/local_address.h"
#include "base/rpc/rpc_status.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "coordinator/audit/stored_audit_log.h"
#include "coordinator/dashboard/dashboard.h"
#include "coordinator/dashboard/prediction_log.h"
#include "coordinator/jobs/queue_measurer.h"
#include "coordinator/metrics/exporter.h"
#include "coordinator/plans/leadership.h"
#include "coordinator/plans/plan_runner.h"
#include "coordinator/resharding/answer_cache.h"
#include "coordinator/security/guard.h"
#include "coordinator/service/call_slots.h"
#include "coordinator/service/prediction_observer.h"
#include "coordinator/service/rpc_observer.h"
#include "coordinator/service/server_credentials.h"
#include "coordinator/service/services.h"
#include "profiledb/store/memory_plan_store.h"

namespace meshwright::daemon {
namespace {

// Calls have so many threads; more calls wait for one.
constexpr int kMaxCalls = 32;
// Of calls that take long. The other threads are for short ones at all times.
constexpr int kMaxMeasurements = 12;
constexpr int kMeasurementsOfOne = 4;  // with a token or certificate
constexpr int kMaxComputations = 8;
constexpr int kComputationsOfOne = 3;
static_assert(kMaxMeasurements + kMaxComputations < kMaxCalls);

// Watches ask so often whether their tokens still count, and so often the token
// file is looked at.
constexpr int kSecondsBetweenChecks = 10;

// Calls `tick` once a second until it is destroyed.
class Ticker {
 public:
  explicit Ticker(std::function<void()> tick)
      : thread_([this, tick = std::move(tick)] { Run(tick); }) {}
  ~Ticker() {
    base::MutexLock lock(&mutex_);
    stopped_ = true;
  }

 private:
  void Run(const std::function<void()>& tick) {
    while (true) {
      {
        base::MutexLock lock(&mutex_);
        if (mutex_.AwaitWithTimeout(absl::Condition(&stopped_),
                                    absl::Seconds(1))) {
          return;
        }
      }
      tick();
    }
  }

  base::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // last: joined before the rest is destroyed
};

jobs::JobQueue::Options QueueOptions(const Coordinator::Dependencies& given) {
  jobs::JobQueue::Options options = given.queue;
  if (given.figures != nullptr) options.observer = given.figures;
  return options;
}

}  // namespace

struct Coordinator::Server {
  explicit Server(Dependencies given)
      : dependencies(std::move(given)),
        queue(&steady, QueueOptions(dependencies)),
        reshardings(dependencies.reshardings),
        held(dependencies.limits.held_streams,
             "streams open and no more; ask again when one has ended, or get "
             "the plan now and then",
             dependencies.limits.streams_of_one),
        answers(
            dependencies.limits.answer_bytes,
            "bytes of answers that wait for their clients and no more; read "
            "those, or ask again later",
            dependencies.limits.answer_bytes_of_one),
        runner({.clock = dependencies.clock,
                .steady = &steady,
                .plans = dependencies.plans != nullptr ? dependencies.plans
                                                       : &own_plans,
                .profiles = dependencies.profiles,
                .queue = &queue,
                .plan = dependencies.plan,
                .cover = dependencies.cover,
                .holder = dependencies.listen_address,
                .options = {}}),
        predictions(dependencies.clock, dependencies.figures) {}

  // Takes up a token file that has changed.
  void FollowTokenFile() const;
  // Leads or follows, as the leadership says; about once a second.
  void FollowLeadership();
  // Workers of a coordinator that does not lead go on elsewhere; those of one
  // that leads anew come back when its epoch has begun.
  void ReleaseWorkers();

  Dependencies dependencies;
  // Leases and pauses are spans of time: a clock that is set ends none.
  base::SteadyClock steady;
  std::string address;
  std::atomic<bool> draining = false;
  jobs::JobQueue queue;
  resharding::AnswerCache reshardings;
  service::CallSlots held;
  service::CallSlots answers;
  service::CallSlots measurements{
      kMaxMeasurements,
      "calls that have programs measured and no more; ask again when one has "
      "ended",
      kMeasurementsOfOne};
  service::CallSlots computations{
      kMaxComputations,
      "calls that compute answers and no more; ask again when one has ended",
      kComputationsOfOne};
  store::MemoryPlanStore own_plans;
  plans::PlanRunner runner;
  dashboard::PredictionLog predictions;
  // Null: no other coordinator works on the store.
  std::unique_ptr<plans::Leadership> leadership;
  store::Epoch led;  // the epoch that the runner leads in; zero: it follows
  std::unique_ptr<audit::StoredAuditLog> audit;  // null: no rows are kept
  std::unique_ptr<security::Guard> guard;
  base::ThreadPool calls{kMaxCalls};
  std::unique_ptr<grpc::Service> planning;
  std::unique_ptr<grpc::Service> resharding;
  std::unique_ptr<grpc::Service> plans;
  std::unique_ptr<grpc::Service> profiles;
  std::unique_ptr<grpc::Service> modules;
  std::unique_ptr<grpc::Service> workers;
  std::unique_ptr<grpc::Service> admin;
  std::unique_ptr<grpc::Server> grpc_server;
  std::unique_ptr<base::Acceptor> acceptor;
  std::unique_ptr<Ticker> renewer;
  std::unique_ptr<Ticker> plan_ticker;
  std::unique_ptr<Ticker> ticker;
  std::unique_ptr<metrics::Exporter> exporter;
  std::unique_ptr<dashboard::Dashboard> dashboard;
};

void Coordinator::Server::FollowTokenFile() const {
  const absl::Status read = guard->ReloadIfChanged().status();
  if (read.ok()) return;
  base::LogWarning("tokens: the file has changed and is wrong, and old tokens ",
                   "stay in force: ", read.message());
}

void Coordinator::Server::FollowLeadership() {
  if (leadership == nullptr) return;
  const bool leads = leadership->Leads();
  const store::Epoch epoch = leads ? leadership->epoch() : store::Epoch();
  // Also where it leads anew, and was seen to follow by nobody.
  if (!leads || led != epoch) {
    // Workers first: a job that ends with its plan would cancel its leases.
    ReleaseWorkers();
    if (led.value != 0) runner.Follow();
    led = store::Epoch();
  }
  if (!leads) {
    runner.feed().NotifyAll();  // the news are the leader's
    return;
  }
  absl::Status status;
  if (led == epoch) {
    status = runner.TakeSubmitted();
  } else {
    status = runner.Lead(epoch);
    if (status.ok()) {
      led = epoch;
      leadership->NoteBegun(epoch);
    }
  }
  if (!status.ok()) {
    base::LogWarning("coordinator: plans of others wait: ", status.message());
  }
}

void Coordinator::Server::ReleaseWorkers() {
  const absl::Status takes = plans::CheckTakesWorkers(leadership.get());
  if (!takes.ok()) queue.ReleaseWorkers(takes);
}

Coordinator::Coordinator(Dependencies dependencies)
    : server_(std::make_unique<Server>(std::move(dependencies))) {}

Coordinator::~Coordinator() { Stop(); }

absl::Status Coordinator::Start() {
  base::SilenceGrpc();
  const std::string& wanted = server_->dependencies.listen_address;
  const Dependencies& given = server_->dependencies;
  ASSIGN_OR_RETURN(auto sockets, base::ListeningSockets::Open(wanted));
  server_->address = sockets.address();
  security::AuditLog* log = given.audit;
  const std::string& name =
      given.advertised_address.empty() ? wanted : given.advertised_address;
  if (given.audit != nullptr && given.plans != nullptr) {
    server_->audit = std::make_unique<audit::StoredAuditLog>(
        audit::StoredAuditLog::Options{.plans = given.plans,
                                       .other = given.audit,
                                       .coordinator = name,
                                       .clock = given.clock});
    log = server_->audit.get();
  }
  ASSIGN_OR_RETURN(
      server_->guard,
      security::Guard::Open({given.clock, given.security.token_file, log}));
  const security::Guard* const guard = server_->guard.get();
  ASSIGN_OR_RETURN(const auto credentials,
                   service::MakeServerCredentials(wanted, given.security, guard,
                                                  given.figures));
  if (given.shares_store) {
    server_->leadership = std::make_unique<plans::Leadership>(
        given.plans, given.advertised_address, plans::Leadership::Options());
  }
  const plans::Leadership* const leadership = server_->leadership.get();
  service::PredictionObserver* predictions = given.figures;
  if (!given.dashboard_address.empty()) predictions = &server_->predictions;
  const service::ServiceContext context = {
      .queue = &server_->queue,
      .calls = &server_->calls,
      .runner = &server_->runner,
      .draining = &server_->draining,
      .reshardings = &server_->reshardings,
      .guard = guard,
      .predictions = predictions,
      .leadership = leadership,
      .held = &server_->held,
      .measurements = &server_->measurements,
      .computations = &server_->computations,
      .answers = &server_->answers,
      .profiles = given.profiles,
      .clock = given.clock,
      .name = server_->audit != nullptr ? name : ""};
  server_->planning = service::NewPlanningService(context, given.limits);
  server_->resharding = service::NewReshardingService(context);
  server_->plans =
      service::NewPlansService(context, given.limits, given.questions);
  server_->profiles =
      service::NewProfilesService(context, given.limits, given.questions);
  server_->modules = service::NewModulesService(context, given.limits);
  server_->workers = service::NewWorkersService(
      &server_->queue, guard, leadership, given.limits.stream_idle);
  server_->admin = service::NewAdminService(context, given.limits, given.store);

  grpc::ServerBuilder builder;
  service::PrepareServer(given.limits, &builder);
  std::vector<base::Acceptor::Door> doors;
  doors.emplace_back(std::move(sockets), credentials, &builder);
  if (!given.local_address.empty()) {
    ASSIGN_OR_RETURN(auto path,
                     base::ListeningSockets::Open(given.local_address));
    ASSIGN_OR_RETURN(const auto local,
                     service::MakeServerCredentials(given.local_address, {},
                                                    guard, given.figures));
    doors.emplace_back(std::move(path), local, &builder);
  }
  builder.RegisterService(server_->planning.get());
  builder.RegisterService(server_->resharding.get());
  builder.RegisterService(server_->plans.get());
  builder.RegisterService(server_->profiles.get());
  builder.RegisterService(server_->modules.get());
  builder.RegisterService(server_->workers.get());
  builder.RegisterService(server_->admin.get());
  service::AdmittedFunction admitted;
  if (given.audit != nullptr) {
    admitted = [guard](const grpc::ServerContextBase& call,
                       const std::string& path) {
      guard->RecordAdmitted(service::DescribeCall(call, path));
    };
  }
  service::InterceptRpcs(given.figures, std::move(admitted), &builder);
  server_->grpc_server = builder.BuildAndStart();
  if (server_->grpc_server == nullptr) {
    return absl::InternalError("gRPC does not start a server");
  }
  ASSIGN_OR_RETURN(
      server_->acceptor,
      base::Acceptor::Start(std::move(doors), given.limits.keepalive_timeout));
  const auto workers = [this] { return server_->runner.ListWorkers(); };
  if (given.figures != nullptr && !given.metrics_address.empty()) {
    ASSIGN_OR_RETURN(
        server_->exporter,
        metrics::Exporter::Start(given.metrics_address,
                                 {.clock = given.clock,
                                  .figures = given.figures,
                                  .queue = &server_->queue,
                                  .plans = &server_->runner.plans(),
                                  .profiles = given.profiles,
                                  .workers = workers,
                                  .longest_wait = [this] {
                                    return server_->runner.LongestWait();
                                  }}));
    base::LogInfo("coordinator: metrics at http://",
                  server_->exporter->address(), "/metrics");
  }
  if (!given.dashboard_address.empty()) {
    ASSIGN_OR_RETURN(
        server_->dashboard,
        dashboard::Dashboard::Start(given.dashboard_address, given.security,
                                    {.clock = given.clock,
                                     .guard = guard,
                                     .queue = &server_->queue,
                                     .workers = workers,
                                     .plans = &server_->runner.plans(),
                                     .profiles = given.profiles,
                                     .leadership = leadership,
                                     .predictions = &server_->predictions,
                                     .address = server_->address}));
    base::LogInfo("coordinator: dashboard at ", server_->dashboard->url());
  }
  if (server_->leadership == nullptr) {
    RETURN_IF_ERROR(server_->runner.Start());
  } else {
    if (given.advertised_address.empty()) {
      server_->leadership->SetAddress(base::NameForOthers(server_->address));
    }
    RETURN_IF_ERROR(server_->leadership->Renew());
    server_->FollowLeadership();
    // On a thread of its own: a database that does not answer must not keep a
    // leader from noticing that its term is over.
    server_->renewer = std::make_unique<Ticker>([this] {
      const absl::Status status = server_->leadership->Renew();
      if (!status.ok()) {
        base::LogWarning("coordinator: its leadership is not prolonged: ",
                         status.message());
      }
    });
  }
  // Plans ask the database, which may not answer. Leases and tokens end all the
  // same, and whoever watches this process hears of it.
  server_->plan_ticker = std::make_unique<Ticker>([this] {
    server_->FollowLeadership();
    server_->runner.Tick();
  });
  server_->ticker = std::make_unique<Ticker>([this, seconds = 0]() mutable {
    server_->ReleaseWorkers();
    server_->queue.Tick();
    if (server_->dependencies.alive) server_->dependencies.alive();
    if (++seconds % kSecondsBetweenChecks != 0) return;
    server_->FollowTokenFile();
    server_->runner.feed().NotifyAll();
  });
  service::SetServing(true, server_->grpc_server.get());
  base::LogInfo("coordinator: listening on ", server_->address);
  const std::string warning =
      security::WarnOfListening(server_->address, given.security);
  if (!warning.empty()) base::LogWarning("coordinator: ", warning);
  return absl::OkStatus();
}

absl::Status Coordinator::Reload() {
  RETURN_IF_ERROR(server_->guard->Reload());
  server_->runner.feed().NotifyAll();
  return security::CheckListening(server_->dependencies.listen_address,
                                  server_->dependencies.security);
}

absl::StatusOr<std::string> Coordinator::NewLocalToken(security::Role role) {
  return server_->guard->AddLocalToken(role);
}

bool Coordinator::Drain(absl::Duration timeout) {
  server_->draining = true;
  service::SetServing(false, server_->grpc_server.get());
  const absl::Time end = server_->steady.Now() + timeout;
  return server_->runner.Drain(timeout) &&
         server_->calls.AwaitIdle(end - server_->steady.Now());
}

void Coordinator::Stop() {
  server_->draining = true;
  server_->exporter.reset();
  server_->dashboard.reset();
  server_->ticker.reset();
  server_->plan_ticker.reset();
  server_->renewer.reset();
  server_->queue.HandOver();
  server_->runner.Stop();
  if (server_->leadership != nullptr) server_->leadership->StepDown();
  server_->queue.Shutdown();
  if (server_->grpc_server != nullptr) {
    server_->acceptor.reset();
    // Calls still open are cancelled at once. Only after Wait can none follow.
    server_->grpc_server->Shutdown(std::chrono::system_clock::now());
    server_->grpc_server->Wait();
    server_->calls.Join();
    server_->grpc_server.reset();
    base::LogInfo("coordinator: stopped");
  }
}

absl::Status Coordinator::AwaitLeadership() {
  const plans::Leadership* const leadership = server_->leadership.get();
  const absl::Duration patience =
      plans::Leadership::Options().term + absl::Seconds(2);
  if (leadership == nullptr || leadership->AwaitLeads(patience)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the coordinator at ", leadership->leader(),
      " runs the plans of this store; attach a worker to it instead, with "
      "\"meshwright-worker --coordinator ",
      leadership->leader(), "\""));
}

const std::string& Coordinator::address() const { return server_->address; }

std::string Coordinator::metrics_address() const {
  return server_->exporter == nullptr ? "" : server_->exporter->address();
}

std::string Coordinator::dashboard_url() const {
  return server_->dashboard == nullptr ? "" : server_->dashboard->url();
}

jobs::JobQueue& Coordinator::queue() { return server_->queue; }

std::unique_ptr<jobs::Measurer> Coordinator::NewMeasurer(std::stop_token stop) {
  return std::make_unique<jobs::QueueMeasurer>(&server_->queue,
                                               std::move(stop));
}

}  // namespace meshwright::daemon
