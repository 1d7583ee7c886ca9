#include "worker/pjrt/buffer.h"

#include <utility>

#include "base/status_macros.h"
#include "pjrt_c_api.h"
#include "worker/pjrt/call.h"
#include "worker/pjrt/element_type.h"

namespace meshwright::worker::pjrt {

int64_t HostArray::ElementCount() const {
  int64_t count = 1;
  for (const int64_t dimension : dimensions) count *= dimension;
  return count;
}

Buffer::~Buffer() {
  if (buffer_ == nullptr) return;
  Padded<PJRT_Buffer_Destroy_Args> args;
  args->buffer = buffer_;
  MESHWRIGHT_PJRT(api_, PJRT_Buffer_Destroy, args).IgnoreError();
}

Buffer::Buffer(Buffer&& other) noexcept
    : api_(other.api_), buffer_(std::exchange(other.buffer_, nullptr)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

absl::StatusOr<std::vector<int64_t>> Buffer::Dimensions() const {
  Padded<PJRT_Buffer_Dimensions_Args> args;
  args->buffer = buffer_;
  RETURN_IF_ERROR(MESHWRIGHT_PJRT(api_, PJRT_Buffer_Dimensions, args));
  return std::vector<int64_t>(args->dims, args->dims + args->num_dims);
}

absl::StatusOr<HostArray> Buffer::Download() const {
  HostArray array;
  ASSIGN_OR_RETURN(array.dimensions, Dimensions());
  Padded<PJRT_Buffer_ElementType_Args> type;
  type->buffer = buffer_;
  RETURN_IF_ERROR(MESHWRIGHT_PJRT(api_, PJRT_Buffer_ElementType, type));
  ASSIGN_OR_RETURN(array.type, FromBufferType(type->type));
  array.bytes.resize(array.ElementCount() * CountElementBytes(array.type));
  // Asked for explicitly: a device may keep a buffer in another layout.
  std::vector<int64_t> minor_to_major(array.dimensions.size());
  for (size_t i = 0; i < minor_to_major.size(); ++i) {
    minor_to_major[i] = static_cast<int64_t>(minor_to_major.size() - 1 - i);
  }
  Padded<PJRT_Buffer_MemoryLayout> layout;
  layout->type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout->tiled.struct_size = sizeof(PJRT_Buffer_MemoryLayout_Tiled);
  layout->tiled.minor_to_major = minor_to_major.data();
  layout->tiled.minor_to_major_size = minor_to_major.size();
  Padded<PJRT_Buffer_ToHostBuffer_Args> args;
  args->src = buffer_;
  args->host_layout = layout.get();
  args->dst = array.bytes.data();
  args->dst_size = array.bytes.size();
  RETURN_IF_ERROR(MESHWRIGHT_PJRT(api_, PJRT_Buffer_ToHostBuffer, args));
  RETURN_IF_ERROR(Await(api_, args->event));
  return array;
}

absl::Status Buffer::AwaitReady() const {
  Padded<PJRT_Buffer_ReadyEvent_Args> args;
  args->buffer = buffer_;
  RETURN_IF_ERROR(MESHWRIGHT_PJRT(api_, PJRT_Buffer_ReadyEvent, args));
  return Await(api_, args->event);
}

}  // namespace meshwright::worker::pjrt
