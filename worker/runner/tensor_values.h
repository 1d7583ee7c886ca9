// Values of host tensors: making inputs, finding NaN, comparing outputs.
//
// Units: generation is counter-based. Element i depends on the seed, the
// element type and i alone, so equal specs and shapes give equal tensors on
// every machine. "Normal" is the sum of four uniforms, scaled to variance 1
// (tails end at 3.46): close enough for inputs and several times faster.
// Threads: free functions, any thread.
#ifndef MESHWRIGHT_WORKER_RUNNER_TENSOR_VALUES_H_
#define MESHWRIGHT_WORKER_RUNNER_TENSOR_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/v1/job.pb.h"
#include "worker/pjrt/buffer.h"

namespace meshwright::worker::runner {

// A complex number's parts are drawn one by one; a constant is its real part.
// Integers of 4 bits have a byte each, as PJRT wants them, and stay in their
// range. Errors: kUnimplemented for other element types (tokens, floats of
// other exponents).
absl::StatusOr<pjrt::HostArray> MakeInput(const v1::InputSpec& spec,
                                          hlo::PrimitiveType type,
                                          std::vector<int64_t> dimensions);

bool HasNan(const pjrt::HostArray& array);

// max |a - reference| / max |reference|, the latter over what is finite, of the
// parts of complex numbers; where
// the reference is all zeros, max |a|. NaN equals NaN and an infinity itself;
// one of them against anything else differs by infinity. Errors:
// kInvalidArgument when types or shapes differ.
absl::StatusOr<double> ComputeRelativeDifference(
    const pjrt::HostArray& array, const pjrt::HostArray& reference);

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_TENSOR_VALUES_H_
