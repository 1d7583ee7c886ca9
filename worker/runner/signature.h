// Signature: what goes into a program and what comes out, as whole tensors.
//
// In → Out: HloModuleProto → entry parameters, root leaves and which output
// takes over which parameter's memory.
// Errors: kInvalidArgument where the module contradicts itself,
// kUnimplemented for tuple parameters and nested tuple outputs.
#ifndef MESHWRIGHT_WORKER_RUNNER_SIGNATURE_H_
#define MESHWRIGHT_WORKER_RUNNER_SIGNATURE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::worker::runner {

struct TensorSlot {
  hlo::PrimitiveType type = hlo::PRIMITIVE_TYPE_INVALID;
  std::vector<int64_t> dimensions;
  hlo::OpSharding sharding;  // REPLICATED where the module says nothing
};

struct Signature {
  std::vector<TensorSlot> parameters;
  std::vector<TensorSlot> outputs;
  // The parameter whose memory each output takes over, if any.
  std::vector<std::optional<int>> aliases;
};

absl::StatusOr<Signature> ReadSignature(const hlo::HloModuleProto& module);

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_SIGNATURE_H_
