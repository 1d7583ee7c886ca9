// Figures: what happened since a coordinator started, counted for Prometheus.
//
// Concept: the rooms below know nothing of Prometheus. They tell plain events
// to the observers that this class is. The present state (plans, workers) is
// asked for when someone reads (state_families.h).
//
//   JobQueue ─ QueueObserver ──────────┐
//   ProfileStore ─ LookupObserver ─────┼─▶ Figures ─▶ Exporter ─▶ /metrics
//   gRPC server ─ RpcObserver ─────────┤
//   Compare ─ PredictionObserver ──────┘
//
// A figure whose labels are known beforehand is 0 from the start, so that a
// rule about it has something to compare.
// Units: seconds and ratios, as Prometheus' names say.
// Threads: any. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_METRICS_FIGURES_H_
#define MESHWRIGHT_COORDINATOR_METRICS_FIGURES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "coordinator/jobs/queue_observer.h"
#include "coordinator/service/prediction_observer.h"
#include "coordinator/service/rpc_observer.h"
#include "profiledb/store/profile_store.h"

namespace prometheus {
class Registry;
}  // namespace prometheus

namespace meshwright::metrics {

class Figures : public jobs::QueueObserver,
                public service::PredictionObserver,
                public service::RpcObserver,
                public store::LookupObserver {
 public:
  Figures();
  ~Figures() override;
  Figures(const Figures&) = delete;
  Figures& operator=(const Figures&) = delete;

  void AddResult(const v1::ProfileResult& result) override;
  void AddPrediction(const std::string& device_kind, double predicted_seconds,
                     double measured_seconds) override;
  void BeginRpc(const service::Rpc& rpc) override;
  void EndRpc(const service::Rpc& rpc, absl::StatusCode code,
              absl::Duration took) override;
  void RefuseRpc(absl::StatusCode code) override;
  void AddLookups(int64_t hits, int64_t misses) override;

  // The figures that the endpoint exports; never null.
  const std::shared_ptr<prometheus::Registry>& registry() const;

 private:
  struct Families;
  const std::unique_ptr<Families> families_;
};

}  // namespace meshwright::metrics

#endif  // MESHWRIGHT_COORDINATOR_METRICS_FIGURES_H_
