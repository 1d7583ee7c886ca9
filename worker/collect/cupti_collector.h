// CuptiCollector: CUPTI's activity records as a collector.
//
// Concept: CUPTI is taken from the copy that the plugin has mapped, or from
// where pip puts it beside the plugin; then the plugin finds that copy. There
// is never a second one. It fills buffers that this hands out; the records in
// them are read when the session ends. Only fields that all layouts since CUDA
// 11 share are read.
// Errors: of Open: kFailedPrecondition, one sentence with the way out. Start
// and Stop say CUPTI's own words.
// Source: cupti_activity.h of CUDA 11 to 13.5.
#ifndef MESHWRIGHT_WORKER_COLLECT_CUPTI_COLLECTOR_H_
#define MESHWRIGHT_WORKER_COLLECT_CUPTI_COLLECTOR_H_

#include <memory>
#include <string>

#include "worker/collect/collector.h"

namespace meshwright::worker::collect {

struct CuptiFunctions;

class CuptiCollector : public KernelCollector {
 public:
  static absl::StatusOr<std::unique_ptr<CuptiCollector>> Open(
      const std::string& plugin_path);
  ~CuptiCollector() override;
  CuptiCollector(const CuptiCollector&) = delete;
  CuptiCollector& operator=(const CuptiCollector&) = delete;

  std::string name() const override { return "cupti"; }
  absl::Status Start() override;
  absl::StatusOr<Collection> Stop() override;

 private:
  explicit CuptiCollector(std::unique_ptr<CuptiFunctions> functions);

  std::unique_ptr<CuptiFunctions> functions_;
};

}  // namespace meshwright::worker::collect

#endif  // MESHWRIGHT_WORKER_COLLECT_CUPTI_COLLECTOR_H_
