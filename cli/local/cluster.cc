#include "cli/local/cluster.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/private_folder.h"
#include "base/rpc/local_address.h"
#include "base/status_macros.h"
#include "coordinator/answers/answers.h"
#include "worker/service/runner_batches.h"

namespace meshwright::cli {

using base::PrivateFolder;

absl::StatusOr<std::unique_ptr<LocalCluster>> LocalCluster::Start(
    Options options) {
  std::unique_ptr<LocalCluster> cluster(new LocalCluster);
  // Not in TMPDIR: the path of a socket has room for 107 characters.
  constexpr char kParent[] = "/tmp";
  constexpr char kPrefix[] = "meshwright-local-";
  PrivateFolder::Sweep(kParent, kPrefix);
  ASSIGN_OR_RETURN(cluster->folder_, PrivateFolder::Make(kParent, kPrefix));
  const std::string socket =
      absl::StrCat("unix:", cluster->folder_->path(), "/coordinator");
  daemon::Coordinator::Dependencies coordinator;
  coordinator.clock = options.clock;
  coordinator.profiles = options.store;
  if (!options.metrics_address.empty()) {
    cluster->figures_ = std::make_unique<metrics::Figures>();
    cluster->store_ = options.store;
    cluster->store_->Observe(cluster->figures_.get());
    coordinator.figures = cluster->figures_.get();
    coordinator.metrics_address = options.metrics_address;
  }
  coordinator.plan = answers::MakePlanFunction(coordinator.profiles);
  coordinator.cover = answers::MakeCoverageFunction(coordinator.profiles);
  coordinator.questions = answers::MakePlanQuestions(coordinator.profiles);
  coordinator.plans = options.plans;
  coordinator.store = options.store_path;
  coordinator.listen_address =
      options.listen_address.empty() ? socket : options.listen_address;
  if (!options.listen_address.empty()) coordinator.local_address = socket;
  // Alone with its only worker, a command fails rather than wait for it.
  if (options.listen_address.empty()) {
    coordinator.queue.standings.barren_batches = 0;
  }
  coordinator.shares_store = options.shares_store;
  coordinator.advertised_address = options.advertised_address;
  coordinator.security = options.security;
  coordinator.audit = options.audit;
  coordinator.dashboard_address = options.dashboard_address;
  coordinator.alive = std::move(options.alive);
  cluster->coordinator_ =
      std::make_unique<daemon::Coordinator>(std::move(coordinator));
  RETURN_IF_ERROR(cluster->coordinator_->Start());
  if (!options.has_worker) return cluster;
  // A worker of its own has this coordinator's token and goes nowhere else.
  RETURN_IF_ERROR(cluster->coordinator_->AwaitLeadership());

  worker::Worker::Dependencies worker;
  // The own worker needs no certificate and no person's token.
  worker.coordinator_address = socket;
  ASSIGN_OR_RETURN(worker.security.token,
                   cluster->coordinator_->NewLocalToken(security::Role::kWork));
  worker.name = worker::MakeWorkerName();
  worker.host = base::ReadHostName();
  worker.devices = options.devices;
  worker.run_batch = options.run_batch ? std::move(options.run_batch)
                                       : worker::RunnerBatches();
  worker.find_fault = worker::FindRunnerFault;
  cluster->worker_ = std::make_unique<worker::Worker>(std::move(worker));
  RETURN_IF_ERROR(cluster->worker_->Start());
  RETURN_IF_ERROR(cluster->coordinator_->queue()
                      .FindWorker(v1::DeviceSpec(options.devices), {})
                      .status());
  return cluster;
}

LocalCluster::~LocalCluster() {
  if (worker_ != nullptr) worker_->Stop();
  if (coordinator_ != nullptr) coordinator_->Stop();
  if (store_ != nullptr) store_->Observe(nullptr);
}

}  // namespace meshwright::cli
