// The checks of `doctor` that run programs: a sum on one device, and the same
// sum over all devices, which takes an all-reduce.
//
// Concept: both go the way of a plan's batches, through the runner and its
// sandbox, and are compared with a run on one device. A machine may open all of
// its devices and still run nothing that is sharded.
// Out: a check for each program; of one device there is the first alone.
// Units: of `limit`, wall time of both together.
// Threads: blocks its own, for as long as the limit and an ending child need.
// The process has no base::Interrupt of its own meanwhile.
#ifndef MESHWRIGHT_CLI_LOCAL_PROGRAM_CHECKS_H_
#define MESHWRIGHT_CLI_LOCAL_PROGRAM_CHECKS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/local/checks.h"
#include "proto/v1/job.pb.h"
#include "worker/service/dependencies.h"

namespace meshwright::cli {

// `ready`: as for CheckPlugin.
std::vector<Check> CheckPrograms(
    const v1::DeviceSpec& device,
    const absl::StatusOr<v1::RunnerEvent::Ready>& ready,
    const worker::BatchFunction& run_batch,
    absl::Duration limit = absl::Minutes(2));

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_LOCAL_PROGRAM_CHECKS_H_
