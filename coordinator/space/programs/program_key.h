// ComputeProgramKey: the content address of a program.
//
// Concept: SHA-256 over the program's bytes and everything else its time
// depends on. The bytes are canonical: the writer's ids depend on structure
// only, and none of its messages has a map. The rest is partitions, inputs,
// mesh, device fingerprint, version of the measuring protocol and XLA flags
// asked for. Names, labels and seeds are not part of it. Rows from before there
// were fingerprints have keys of an unknown machine: device kind and plugin
// version in its place.
// Threads: pure functions.
// Source: docs/decisions/program-keys.md.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_PROGRAM_KEY_H_
#define MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_PROGRAM_KEY_H_

#include <string>

#include "base/link.h"
#include "coordinator/space/annotation/sharding.h"
#include "proto/v1/job.pb.h"

namespace meshwright::space {

// Everything beside the module that a program's time depends on.
struct KeyContext {
  // Whether the compiler minds barriers to the end; XLA's for CPUs drops them
  // before it merges equal operations and orders what is left.
  bool keeps_barriers = true;
  Mesh mesh;
  std::string device_kind;
  std::string platform_version;
  // jobs::DigestFingerprint; empty: the unknown machine.
  std::string device_digest;
  v1::MeasureOptions options;
  // Of a mesh that one device stands for: what its rows get added when they are
  // read (estimation/cross_mesh_estimate.h). Part of no key. Else empty.
  base::Links links;
};

std::string ComputeProgramKey(const v1::Program& program,
                              const KeyContext& context);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_PROGRAM_KEY_H_
