#include "worker/pjrt/element_type.h"

#include "absl/strings/str_cat.h"
#include "pjrt_c_api.h"

namespace meshwright::worker::pjrt {
namespace {

struct Row {
  hlo::PrimitiveType type;
  PJRT_Buffer_Type buffer_type;
  int64_t bytes;
};

constexpr Row kTypes[] = {
    {hlo::PRED, PJRT_Buffer_Type_PRED, 1},
    {hlo::S8, PJRT_Buffer_Type_S8, 1},
    {hlo::S16, PJRT_Buffer_Type_S16, 2},
    {hlo::S32, PJRT_Buffer_Type_S32, 4},
    {hlo::S64, PJRT_Buffer_Type_S64, 8},
    {hlo::U8, PJRT_Buffer_Type_U8, 1},
    {hlo::U16, PJRT_Buffer_Type_U16, 2},
    {hlo::U32, PJRT_Buffer_Type_U32, 4},
    {hlo::U64, PJRT_Buffer_Type_U64, 8},
    {hlo::F16, PJRT_Buffer_Type_F16, 2},
    {hlo::F32, PJRT_Buffer_Type_F32, 4},
    {hlo::F64, PJRT_Buffer_Type_F64, 8},
    {hlo::BF16, PJRT_Buffer_Type_BF16, 2},
    {hlo::C64, PJRT_Buffer_Type_C64, 8},
    {hlo::C128, PJRT_Buffer_Type_C128, 16},
    {hlo::F8E5M2, PJRT_Buffer_Type_F8E5M2, 1},
    {hlo::F8E4M3FN, PJRT_Buffer_Type_F8E4M3FN, 1},
    {hlo::F8E4M3, PJRT_Buffer_Type_F8E4M3, 1},
    {hlo::F8E3M4, PJRT_Buffer_Type_F8E3M4, 1},
    {hlo::S4, PJRT_Buffer_Type_S4, 1},  // on the host
    {hlo::U4, PJRT_Buffer_Type_U4, 1},
};

}  // namespace

int64_t CountElementBytes(hlo::PrimitiveType type) {
  for (const Row& row : kTypes) {
    if (row.type == type) return row.bytes;
  }
  return 0;
}

absl::StatusOr<int> ToBufferType(hlo::PrimitiveType type) {
  for (const Row& row : kTypes) {
    if (row.type == type) return row.buffer_type;
  }
  return absl::UnimplementedError(absl::StrCat("arrays of ",
                                               hlo::PrimitiveType_Name(type),
                                               " cannot be moved to a device"));
}

absl::StatusOr<hlo::PrimitiveType> FromBufferType(int type) {
  for (const Row& row : kTypes) {
    if (row.buffer_type == type) return row.type;
  }
  return absl::UnimplementedError(
      absl::StrCat("arrays of PJRT type ", type, " cannot be read back"));
}

int64_t CountShapeBytes(const hlo::ShapeProto& shape) {
  if (shape.element_type() == hlo::TUPLE) {
    int64_t bytes = 0;
    for (const hlo::ShapeProto& leaf : shape.tuple_shapes()) {
      bytes += CountShapeBytes(leaf);
    }
    return bytes;
  }
  int64_t bytes = CountElementBytes(shape.element_type());
  for (const int64_t dimension : shape.dimensions()) bytes *= dimension;
  return bytes;
}

}  // namespace meshwright::worker::pjrt
