// Mutation: small valid modules cut out of large ones, and edits that make them
// wrong in one place.
//
// Concept: bytes changed at random rarely parse, so the message is edited:
// opcodes, operands, callees, shapes, roots and single fields of any message
// through reflection. The fuzzers and the tests that mutate by seed share it.
// Threads: free.
#ifndef MESHWRIGHT_COORDINATOR_IR_TESTING_MUTATION_H_
#define MESHWRIGHT_COORDINATOR_IR_TESTING_MUTATION_H_

#include <random>

#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

using Random = std::minstd_rand;

// From 0 up to and without `limit`.
int Below(Random& random, int limit);

// Keeps some ancestors of a random instruction; what they read from outside
// becomes a parameter. The result is as valid as its source was.
void CutCone(hlo::HloModuleProto& module, Random& random);

// One edit.
void EditModule(hlo::HloModuleProto& module, Random& random);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_TESTING_MUTATION_H_
