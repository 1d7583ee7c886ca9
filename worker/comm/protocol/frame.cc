#include "worker/comm/protocol/frame.h"

namespace meshwright::worker::comm {
namespace {

// In front of every frame; its last byte is the version of the protocol.
constexpr uint32_t kMagic = 0x4d574301;

void Put(uint64_t value, size_t at, size_t width, FrameBytes& bytes) {
  for (size_t i = 0; i < width; ++i) {
    bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
  }
}

uint64_t Get(const FrameBytes& bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i) {
    value |= std::to_integer<uint64_t>(bytes[at + i]) << (8 * i);
  }
  return value;
}

uint64_t MaxPayload(FrameType type) {
  switch (type) {
    case FrameType::kHello:
      return kHelloBytes;
    case FrameType::kChunk:
      return kMaxChunkBytes;
    case FrameType::kAbort:
      return kMaxAbortBytes;
    case FrameType::kChannel:
      return kChannelBytes;
    case FrameType::kDeviceChunk:
      return 4;
    default:
      return 0;
  }
}

}  // namespace

FrameBytes Encode(const Frame& frame) {
  FrameBytes bytes = {};
  Put(kMagic, 0, 4, bytes);
  Put(static_cast<uint64_t>(frame.type), 4, 4, bytes);
  Put(frame.host, 8, 4, bytes);
  Put(frame.task, 12, 4, bytes);
  Put(frame.step, 16, 4, bytes);
  Put(frame.payload_bytes, 20, 4, bytes);
  Put(frame.value, 24, 8, bytes);
  return bytes;
}

absl::StatusOr<Frame> Decode(const FrameBytes& bytes) {
  if (Get(bytes, 0, 4) != kMagic) {
    return absl::DataLossError("what came is no message of this protocol");
  }
  const uint64_t type = Get(bytes, 4, 4);
  if (type < static_cast<uint64_t>(FrameType::kHello) ||
      type > static_cast<uint64_t>(FrameType::kDeviceChunk)) {
    return absl::DataLossError("a message of an unknown kind came");
  }
  Frame frame;
  frame.type = static_cast<FrameType>(type);
  frame.host = static_cast<uint32_t>(Get(bytes, 8, 4));
  frame.task = static_cast<uint32_t>(Get(bytes, 12, 4));
  frame.step = static_cast<uint32_t>(Get(bytes, 16, 4));
  frame.payload_bytes = static_cast<uint32_t>(Get(bytes, 20, 4));
  frame.value = Get(bytes, 24, 8);
  if (frame.payload_bytes > MaxPayload(frame.type)) {
    return absl::DataLossError("a message came that claims to be too long");
  }
  return frame;
}

}  // namespace meshwright::worker::comm
