// DeviceTransport: chunks over the links of GPUs, all else over another
// transport.
//
// Concept: control messages and checksums go over `control` (TCP), which also
// finds who is lost. Once all peers are there, whoever sends chunks to a peer
// names a channel (device_channels.h) and announces it over control. All
// channels stand before the rank hears that it is connected. A chunk is
// announced over control and then moved by its channel. Later messages from
// that peer wait until it is here, but for ABORT. An error anywhere cuts all
// channels, so that nobody waits for a peer that is gone.
//
//   self ── CHUNK ──▶ control: DEVICE_CHUNK, its length ──▶ peer: Place
//        └─ bytes ─────────▶ channel ────────────────────────▶ Arrived
//
// Threads: those of control: all in Run's. Channels are looked after by a
// timer, every 20 us while they move and up to every ms while nothing comes.
// Errors: a peer is Lost with kDataLoss when it speaks of channels out of turn,
// with kDeadlineExceeded when its channel does not come up, with those of the
// channel (device_channels.h); kCancelled from Place once Run is over.
#ifndef MESHWRIGHT_WORKER_COMM_TRANSPORT_DEVICE_TRANSPORT_H_
#define MESHWRIGHT_WORKER_COMM_TRANSPORT_DEVICE_TRANSPORT_H_

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "worker/comm/protocol/plan.h"
#include "worker/comm/transport/device_channels.h"
#include "worker/comm/transport/transport.h"

namespace meshwright::worker::comm {

class DeviceTransport : public Transport, private Transport::Events {
 public:
  // Calls a function once, in the thread of Run; one at a time.
  using After = std::function<void(Clock::duration, std::function<void()>)>;

  // `plan` and `channels` outlive this; `after` is of `control`.
  DeviceTransport(const Plan& plan, int self,
                  std::unique_ptr<Transport> control, After after,
                  DeviceChannels& channels);
  ~DeviceTransport() override;

  void Run(Transport::Events& events) override;
  void Send(int peer, const Frame& frame, std::span<const std::byte> payload,
            std::function<void()> sent) override;
  void Close(const Frame& last, const std::string& text) override;
  void Drop() override;

 private:
  using Length = std::array<std::byte, 4>;

  struct Parcel {
    Frame frame;
    std::span<const std::byte> payload;
    std::function<void()> sent;
  };
  struct Outgoing {
    std::string id;
    std::unique_ptr<DeviceChannel> channel;
    std::deque<Parcel> queue;  // the first is under way if `busy`
    Length length = {};
    bool busy = false;
  };
  struct Incoming {
    std::array<std::byte, DeviceChannels::kIdBytes> id = {};
    std::unique_ptr<DeviceChannel> channel;  // none until it is named
    Frame chunk;                             // under way if `busy`
    Length length = {};
    bool busy = false;
    std::deque<Frame> waiting;  // came after it
  };

  void Connected() override;
  absl::StatusOr<std::span<std::byte>> Place(int peer,
                                             const Frame& frame) override;
  void Arrived(int peer, const Frame& frame) override;
  void Lost(int peer, const absl::Status& why) override;
  void Tick() override;

  void OpenOutgoing();
  void OpenIncoming(int peer);
  void FailChannel(int peer, const absl::Status& status);
  void Begin(int peer, Outgoing& link);
  bool Expected(int peer, const Frame& frame) const;
  void Announced(int peer, const Frame& frame);
  void Look();
  void LookSoon();
  // A channel that failed is not.
  bool IsIdle(int peer, DeviceChannel& channel);
  bool LookAtConnecting();
  bool LookAtOutgoing();
  bool LookAtIncoming();
  void CutAll();

  const Plan& plan_;
  const std::unique_ptr<Transport> control_;
  const After after_;
  DeviceChannels& channels_;
  std::map<int, Outgoing> outgoing_;  // by peer
  std::map<int, Incoming> incoming_;
  Transport::Events* events_ = nullptr;  // none once it is closed
  bool connecting_ = false;
  Clock::time_point connecting_since_;
  bool looking_ = false;
  Clock::duration pause_{};
};

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_TRANSPORT_DEVICE_TRANSPORT_H_
