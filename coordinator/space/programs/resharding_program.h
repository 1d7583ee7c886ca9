// The program that converts a boundary tensor from one sharding to another.
//
// Concept: one copy of the activation into the sharding its reader wants, and
// one copy back for each gradient that returns.
// Threads: pure function.
// Source: papers/cfp.txt 4.2; docs/decisions/program-keys.md.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_RESHARDING_PROGRAM_H_
#define MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_RESHARDING_PROGRAM_H_

#include "coordinator/ir/shape.h"
#include "coordinator/space/programs/program_key.h"

namespace meshwright::space {

// Converts `shape` from one sharding to another and `gradients` equal tensors
// back.
v1::Program MakeReshardingProgram(const ir::Shape& shape, const Sharding& from,
                                  const Sharding& to, int gradients,
                                  const KeyContext& context);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_RESHARDING_PROGRAM_H_
