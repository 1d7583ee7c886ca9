// The collectives of an optimized per-device program.
//
// Concept: every collective instruction that one execution reaches, counted as
// often as it is executed where that is known. Inside a loop of known trip
// count it counts once per trip, inside any other loop or branch once.
// Asynchronous pairs ("all-reduce-start", "-done") count as one. Equal ones
// (kind, bytes, group size) are merged, in the order of kind, bytes, size.
// Units: `bytes` is the result on one device, all leaves of a tuple together.
#ifndef MESHWRIGHT_WORKER_PJRT_COLLECTIVES_H_
#define MESHWRIGHT_WORKER_PJRT_COLLECTIVES_H_

#include <set>
#include <string>
#include <vector>

#include "proto/hlo/hlo.pb.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::worker::pjrt {

// `device_count`: the group of a collective that names no groups.
std::vector<v1::Collective> FindCollectives(const hlo::HloModuleProto& module,
                                            int device_count);

// The names of all collective instructions, both halves of asynchronous ones,
// in every computation.
std::set<std::string> NameCollectives(const hlo::HloModuleProto& module);

}  // namespace meshwright::worker::pjrt

#endif  // MESHWRIGHT_WORKER_PJRT_COLLECTIVES_H_
