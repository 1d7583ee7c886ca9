// Structural hashes: what an instruction does, whatever it is called.
//
// Concept: HashOperation covers opcode, shape and attributes (reducers and loop
// bodies by content), never names, ids, metadata or operands. Callers fold in
// the hashes of the operands they care about.
// Units: 64-bit, in-memory only; the fingerprints of stored programs are
// SHA-256 over their canonical form (base/fingerprint.h).
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_HASH_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_HASH_H_

#include <cstdint>
#include <vector>

#include "coordinator/ir/module.h"

namespace meshwright::segmenter {

// By ValueId.
std::vector<uint64_t> HashOperations(const ir::Module& module);

uint64_t HashShape(const ir::Shape& shape);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_HASH_H_
