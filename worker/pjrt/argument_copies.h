// CountArgumentCopyBytes: the arguments that a program copies before it runs.
//
// Concept: an update is written over the state that it updates. Where nothing
// says that who reads the state runs before, the compiler copies it first. The
// copy is there from the program's beginning to the last who reads it.
// Units: bytes of one device.
// Threads: pure function.
#ifndef MESHWRIGHT_WORKER_PJRT_ARGUMENT_COPIES_H_
#define MESHWRIGHT_WORKER_PJRT_ARGUMENT_COPIES_H_

#include <cstdint>

#include "proto/hlo/hlo.pb.h"

namespace meshwright::worker::pjrt {

// Of an optimized per-device program.
int64_t CountArgumentCopyBytes(const hlo::HloModuleProto& module);

}  // namespace meshwright::worker::pjrt

#endif  // MESHWRIGHT_WORKER_PJRT_ARGUMENT_COPIES_H_
