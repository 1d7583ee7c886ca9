// Whether a worker and this coordinator understand each other.
//
// Concept: both say the protocols that they speak; one in common is enough
// (base/version.h). A worker that says none is of protocol 1. One that measures
// otherwise than this coordinator is refused, too: its rows would be kept under
// keys of another way of measuring, and be good ones to every later plan. A
// build that does not say how it measures is of measuring protocol 14.
// Threads: pure functions.
// Errors: kFailedPrecondition, one sentence with both versions and the way out.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_WORKER_PROTOCOL_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_WORKER_PROTOCOL_H_

#include "absl/status/status.h"
#include "base/version.h"
#include "proto/v1/services.pb.h"

namespace meshwright::service {

struct ProtocolRange {
  int oldest = base::kOldestWorkerProtocol;
  int newest = base::kWorkerProtocol;
  int measuring = base::kMeasuringProtocol;
};

absl::Status CheckProtocol(const v1::WorkerHello& hello,
                           const ProtocolRange& own = {});

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_WORKER_PROTOCOL_H_
