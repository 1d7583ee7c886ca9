// Reads the messages of a request into what the segmenter understands.
//
// Threads: pure functions.
// Errors: kInvalidArgument; the caller reports the sentence as it is.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_READ_REQUEST_H_
#define MESHWRIGHT_COORDINATOR_SPACE_READ_REQUEST_H_

#include "absl/status/statusor.h"
#include "coordinator/segmenter/strategy_request.h"
#include "coordinator/space/annotation/sharding.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::space {

// kInvalidArgument: something unknown is to be opened.
absl::StatusOr<segmenter::StrategyRequest> ReadRequest(
    const v1::StrategyRequest& request);

// kInvalidArgument: no axis, an axis of no devices, more devices than 4096.
absl::StatusOr<Mesh> ReadMesh(const v1::MeshSpec& spec);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_READ_REQUEST_H_
