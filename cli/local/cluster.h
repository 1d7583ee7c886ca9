// LocalCluster: a coordinator and, unless it is to be alone, one worker inside
// this process.
//
// Concept: what `plan`, `validate` and `up` run when no coordinator is named.
// The two speak real gRPC, over a unix socket of this user's own; others may
// reach the coordinator at the address given.
// Threads and ownership: one thread; the stores outlive the cluster.
// Errors: those of Coordinator::Start and of Worker::Start, such as a busy
// port, a plugin that does not load or a missing runner. kFailedPrecondition
// where a coordinator elsewhere runs the plans of the store.
#ifndef MESHWRIGHT_CLI_LOCAL_CLUSTER_H_
#define MESHWRIGHT_CLI_LOCAL_CLUSTER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/private_folder.h"
#include "coordinator/daemon/coordinator.h"
#include "coordinator/metrics/figures.h"
#include "coordinator/security/audit_log.h"
#include "coordinator/security/listening.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/job.pb.h"
#include "worker/service/worker.h"

namespace meshwright::cli {

class LocalCluster {
 public:
  struct Options {
    const base::Clock* clock = nullptr;
    store::ProfileStore* store = nullptr;
    // Keeps the plans; null: they end with the cluster.
    store::PlanStore* plans = nullptr;
    std::string store_path;      // of both; empty: no backups over RPC
    std::string listen_address;  // empty: the unix socket alone
    bool shares_store = false;   // with other coordinators
    std::string advertised_address;
    security::Listening security;
    security::AuditLog* audit = nullptr;  // outlives the cluster; null: none
    std::string metrics_address;    // where Prometheus reads; empty: nowhere
    std::string dashboard_address;  // where people look; empty: nowhere
    std::function<void()> alive;    // as the coordinator's; empty: none
    bool has_worker = true;
    v1::DeviceSpec devices;           // of the worker
    worker::BatchFunction run_batch;  // empty: worker/sandbox's
  };

  // Returns when the worker is attached.
  static absl::StatusOr<std::unique_ptr<LocalCluster>> Start(Options options);
  ~LocalCluster();

  const std::string& address() const { return coordinator_->address(); }
  daemon::Coordinator& coordinator() { return *coordinator_; }
  // Only where there is one.
  worker::Worker& worker() { return *worker_; }

 private:
  LocalCluster() = default;

  std::unique_ptr<base::PrivateFolder> folder_;  // of the socket
  std::unique_ptr<metrics::Figures> figures_;
  store::ProfileStore* store_ = nullptr;  // that the figures observe
  std::unique_ptr<daemon::Coordinator> coordinator_;
  std::unique_ptr<worker::Worker> worker_;
};

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_LOCAL_CLUSTER_H_
