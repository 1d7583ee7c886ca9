// A launch as the runner takes it (proto/v1/job.proto, Sequence).
#ifndef MESHWRIGHT_COORDINATOR_LAUNCH_SEQUENCE_H_
#define MESHWRIGHT_COORDINATOR_LAUNCH_SEQUENCE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "coordinator/launch/launch.h"

namespace meshwright::launch {

// Adds the programs that `request` does not have yet; equal arguments get equal
// tensors, every micro-batch others. `seeds` is added to those of arguments.
v1::Sequence AddSequence(const Launch& launch, uint64_t seeds,
                         v1::RunnerRequest& request);

// The module as it came, on one device, with the results of `launch`, which is
// of one micro-batch. Errors: those of ir::ParseModule.
absl::StatusOr<v1::Sequence> AddWholeStep(const std::string& hlo_module,
                                          const Launch& launch, uint64_t seeds,
                                          v1::RunnerRequest& request);

}  // namespace meshwright::launch

#endif  // MESHWRIGHT_COORDINATOR_LAUNCH_SEQUENCE_H_
