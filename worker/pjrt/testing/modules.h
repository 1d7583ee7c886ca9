// Small HLO modules for the tests of this and the runner's folder.
#ifndef MESHWRIGHT_WORKER_PJRT_TESTING_MODULES_H_
#define MESHWRIGHT_WORKER_PJRT_TESTING_MODULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/hlo/hlo.pb.h"

namespace meshwright::worker::pjrt {

hlo::OpSharding Replicated();
// One dimension per tile count, over devices 0, 1, ...
hlo::OpSharding Tiled(const std::vector<int64_t>& tiles);

// f32[rows,columns] = dot(f32[rows,inner], f32[inner,columns])
hlo::HloModuleProto MatmulModule(int64_t rows, int64_t inner, int64_t columns,
                                 const hlo::OpSharding& left,
                                 const hlo::OpSharding& right,
                                 const hlo::OpSharding& result);

// (p0 + p1), whose one output takes over p0's memory; f32[elements].
hlo::HloModuleProto IncrementModule(int64_t elements);

// log(p0); f32[elements].
hlo::HloModuleProto LogModule(int64_t elements);

// Loops for ever when p0, an s32, is positive.
hlo::HloModuleProto EndlessModule();

// Valid bytes, but the compiler refuses it: adds f32[2] and f32[3].
hlo::HloModuleProto RefusedModule();

}  // namespace meshwright::worker::pjrt

#endif  // MESHWRIGHT_WORKER_PJRT_TESTING_MODULES_H_
