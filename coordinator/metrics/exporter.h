// Exporter: the figures of a coordinator, for Prometheus to read over HTTP.
//
// Concept: GET /metrics answers in Prometheus' text format. Anyone who reaches
// the port reads the figures; they name RPCs and kinds of devices, and no plan,
// model, person or token.
// Threads and ownership: any; what Sources points to outlives it.
// Errors: those of HttpServer::Start.
#ifndef MESHWRIGHT_COORDINATOR_METRICS_EXPORTER_H_
#define MESHWRIGHT_COORDINATOR_METRICS_EXPORTER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "coordinator/http/http_server.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/metrics/figures.h"
#include "coordinator/metrics/store_census.h"
#include "coordinator/metrics/store_wait.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/profile_store.h"

namespace prometheus {
class Collectable;
}  // namespace prometheus

namespace meshwright::metrics {

class Exporter {
 public:
  struct Sources {
    const base::Clock* clock = nullptr;
    const Figures* figures = nullptr;
    const jobs::JobQueue* queue = nullptr;
    store::PlanStore* plans = nullptr;
    store::ProfileStore* profiles = nullptr;  // null: there is none
    // The attached ones, and those that are to come back.
    std::function<std::vector<v1::WorkerSummary>()> workers = {};
    // Of the plans that wait for devices; empty: none does.
    std::function<absl::Duration()> longest_wait = {};
    // That a store of plans has to answer.
    absl::Duration store_patience = StoreWait::kPatience;
  };

  // `address` is HOST:PORT; port 0 takes a free one.
  static absl::StatusOr<std::unique_ptr<Exporter>> Start(
      const std::string& address, const Sources& sources);
  ~Exporter();

  // Where it listens, with the port that was chosen.
  const std::string& address() const { return server_->address(); }
  // Until the store is counted, where a count runs.
  void AwaitCensus();

 private:
  Exporter() = default;

  std::unique_ptr<StoreCensus> census_;
  std::shared_ptr<prometheus::Collectable> state_;
  std::unique_ptr<http::HttpServer> server_;  // last: stops first
};

}  // namespace meshwright::metrics

#endif  // MESHWRIGHT_COORDINATOR_METRICS_EXPORTER_H_
