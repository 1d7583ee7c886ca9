// DigestFingerprint: which devices share rows.
//
// Concept: a digest over every field of a fingerprint that is set, with its
// name. A field that only later machines report thus leaves the digests of
// earlier ones as they are. Two machines with equal digests run a program
// equally fast; the digest is part of every program's key.
// In -> Out: fingerprint -> 64 hex digits; empty for one that says nothing (an
// unknown machine). Threads: pure function.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_DEVICE_DIGEST_H_
#define MESHWRIGHT_COORDINATOR_JOBS_DEVICE_DIGEST_H_

#include <string>

#include "proto/v1/device.pb.h"

namespace meshwright::jobs {

std::string DigestFingerprint(const v1::DeviceFingerprint& fingerprint);

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_DEVICE_DIGEST_H_
