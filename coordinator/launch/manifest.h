// The manifest of an exported launch: which tensors its modules take and give,
// on which devices, and in which order they run (docs/formats/launch.md).
#ifndef MESHWRIGHT_COORDINATOR_LAUNCH_MANIFEST_H_
#define MESHWRIGHT_COORDINATOR_LAUNCH_MANIFEST_H_

#include <string>

#include "coordinator/launch/launch.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::launch {

// "stage-0/forward.hlo.pb"; stages are counted from 0.
std::string NameFile(const Place& place);

std::string WriteManifest(const Launch& launch, const v1::Plan& plan);

}  // namespace meshwright::launch

#endif  // MESHWRIGHT_COORDINATOR_LAUNCH_MANIFEST_H_
