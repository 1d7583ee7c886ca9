// Host arrays and device buffers.
//
// Shapes: dense, major to minor, as written in `dimensions`.
// Ownership: a Buffer owns its device memory and must not outlive its Client.
// Threads: one thread at a time per buffer.
// Errors: those of the plugin, its code and first line (call.h).
#ifndef MESHWRIGHT_WORKER_PJRT_BUFFER_H_
#define MESHWRIGHT_WORKER_PJRT_BUFFER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/hlo/hlo.pb.h"

struct PJRT_Api;
struct PJRT_Buffer;

namespace meshwright::worker::pjrt {

struct HostArray {
  hlo::PrimitiveType type = hlo::PRIMITIVE_TYPE_INVALID;
  std::vector<int64_t> dimensions;
  std::string bytes;  // dense, major to minor

  int64_t ElementCount() const;
};

class Buffer {
 public:
  Buffer(const PJRT_Api* api, PJRT_Buffer* buffer)
      : api_(api), buffer_(buffer) {}
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // Each asks the plugin. Download waits for the buffer and copies it to the
  // host, AwaitReady only waits. Errors: see above.
  absl::StatusOr<std::vector<int64_t>> Dimensions() const;
  absl::StatusOr<HostArray> Download() const;
  absl::Status AwaitReady() const;

  PJRT_Buffer* get() const { return buffer_; }

 private:
  const PJRT_Api* api_;
  PJRT_Buffer* buffer_;
};

}  // namespace meshwright::worker::pjrt

#endif  // MESHWRIGHT_WORKER_PJRT_BUFFER_H_
