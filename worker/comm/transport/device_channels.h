// DeviceChannels: bytes from one rank to another by way of their GPUs.
//
// Concept: a channel leads one way between two ranks and carries one message at
// a time. Its id is made at one end and brought to the other by other means.
// Nothing here waits: what is begun is under way until the channel is idle
// again.
//
//   NewId ─▶ Open at both ends ─▶ connecting ─▶ idle ◀─▶ under way
//                                     └── an error, or Abort: over
//
// Threads: one per rank. Ownership: channels before their DeviceChannels.
// Errors: kFailedPrecondition, in one sentence, where GPU, driver or library is
// missing; kUnavailable for a channel that broke.
#ifndef MESHWRIGHT_WORKER_COMM_TRANSPORT_DEVICE_CHANNELS_H_
#define MESHWRIGHT_WORKER_COMM_TRANSPORT_DEVICE_CHANNELS_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/comm/protocol/frame.h"

namespace meshwright::worker::comm {

class DeviceChannel {
 public:
  virtual ~DeviceChannel() = default;

  // At the end that sends, or receives, while idle. The bytes stay as they are
  // until it is idle again; both ends give the same number.
  virtual absl::Status Send(std::span<const std::byte> bytes) = 0;
  virtual absl::Status Receive(std::span<std::byte> bytes) = 0;

  // False: connecting, or under way.
  virtual absl::StatusOr<bool> Idle() = 0;

  // Ends it, whatever the other end does.
  virtual void Abort() = 0;
};

class DeviceChannels {
 public:
  virtual ~DeviceChannels() = default;

  static constexpr size_t kIdBytes = kChannelBytes;
  // The name of a channel that this end is about to open. Errors: see above.
  virtual absl::StatusOr<std::string> NewId() = 0;
  // One end of the channel `id`, connecting at first; `sends`: this is the end
  // that sends. Errors: see above.
  virtual absl::StatusOr<std::unique_ptr<DeviceChannel>> Open(
      const std::string& id, bool sends) = 0;
};

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_TRANSPORT_DEVICE_CHANNELS_H_
