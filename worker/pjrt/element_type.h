// Element types of dense arrays: sizes, and the two numberings of XLA.
//
// Errors: kUnimplemented for a type that no dense array has.
#ifndef MESHWRIGHT_WORKER_PJRT_ELEMENT_TYPE_H_
#define MESHWRIGHT_WORKER_PJRT_ELEMENT_TYPE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::worker::pjrt {

// Bytes of one element; 0 for what is no dense byte-sized type (tuples,
// tokens, 4-bit integers).
int64_t CountElementBytes(hlo::PrimitiveType type);

// PJRT_Buffer_Type of a type; kUnimplemented where CountElementBytes is 0.
absl::StatusOr<int> ToBufferType(hlo::PrimitiveType type);
absl::StatusOr<hlo::PrimitiveType> FromBufferType(int type);

// Bytes of a dense shape; of a tuple, the sum of its leaves.
int64_t CountShapeBytes(const hlo::ShapeProto& shape);

}  // namespace meshwright::worker::pjrt

#endif  // MESHWRIGHT_WORKER_PJRT_ELEMENT_TYPE_H_
