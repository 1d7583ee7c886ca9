// Frame: what stands in front of every message between two ranks.
//
// Concept:  rank                     leader                       rank
//             HELLO <> HELLO  (both ways, on every connection)
//             JOINED ------------------> all joined
//                                      START ---------------------->
//             READY (my incoming port is free) -------------> its sender
//             CHUNK ... CHUNK SUM <------------------------- its sender
//             FINISHED (all verified) -> all finished
//                                      COMMIT --------------------->
//           COMMIT is passed on, then the connection ends. ABORT takes its
//           place where something failed; BEAT only says "alive".
// Shapes: 32 bytes, little-endian, then `payload_bytes` of payload. That is a
// chunk's bytes, ABORT's sentence, HELLO's fingerprint of the plan, the name of
// a channel, or the length (4 bytes) of a chunk that comes over one. Errors:
// Decode gives kDataLoss for bytes that are no frame.
#ifndef MESHWRIGHT_WORKER_COMM_PROTOCOL_FRAME_H_
#define MESHWRIGHT_WORKER_COMM_PROTOCOL_FRAME_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace meshwright::worker::comm {

enum class FrameType : uint8_t {
  kHello = 1,  // host: who speaks
  kJoined,
  kStart,
  kReady,     // task
  kChunk,     // task, step, value: offset in the slice
  kSum,       // task, value: checksum of the slice
  kFinished,  // value: nanoseconds from START to the rank's last end
  kCommit,    // value: the largest of those
  kAbort,
  kBeat,
  kChannel,      // the name of a channel between GPUs (device_transport.h)
  kDeviceChunk,  // as CHUNK, but its payload comes over that channel
};

struct Frame {
  FrameType type = FrameType::kBeat;
  uint32_t host = 0;
  uint32_t task = 0;
  uint32_t step = 0;
  uint32_t payload_bytes = 0;
  uint64_t value = 0;

  bool operator==(const Frame&) const = default;
};

inline constexpr size_t kFrameBytes = 32;
inline constexpr int64_t kMaxChunkBytes = int64_t{8} << 20;
inline constexpr uint32_t kMaxAbortBytes = 2048;
inline constexpr uint32_t kHelloBytes = 64;  // a fingerprint in hex
inline constexpr uint32_t kChannelBytes = 128;
using FrameBytes = std::array<std::byte, kFrameBytes>;

FrameBytes Encode(const Frame& frame);
absl::StatusOr<Frame> Decode(const FrameBytes& bytes);

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_PROTOCOL_FRAME_H_
