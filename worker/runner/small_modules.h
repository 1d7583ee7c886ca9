// Small HLO modules. Those timed beside the programs: one collective alone,
// nothing at all, and the anchors' (anchors.h). A sum that shows whether
// devices work together.
//
// Concept: each of the timed ones runs with one replica per device, so no
// annotation, channel or partitioning is involved. Groups are consecutive
// devices. Elements are float32 where the byte count allows, else bytes.
// Errors: kUnimplemented for a collective that has no such module.
#ifndef MESHWRIGHT_WORKER_RUNNER_SMALL_MODULES_H_
#define MESHWRIGHT_WORKER_RUNNER_SMALL_MODULES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/hlo/hlo.pb.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::worker::runner {

absl::StatusOr<hlo::HloModuleProto> MakeCollectiveModule(
    const v1::Collective& collective, int device_count);

// Negates one float: what launching any program costs.
hlo::HloModuleProto LaunchModule();

// A float32 matrix of `side` rows and columns, `count` times replaced by its
// product with another one plus itself.
hlo::HloModuleProto MakeProductsModule(int64_t side, int count);

// The sum over the rows of a float32 matrix; its name is "sum_over_" and
// `devices`. The rows are split over so many partitions. Each has the sum in
// the end, which takes an all-reduce where there are several.
hlo::HloModuleProto MakeSumModule(int64_t rows, int64_t columns, int devices);

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_SMALL_MODULES_H_
