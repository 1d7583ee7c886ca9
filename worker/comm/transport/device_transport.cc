#include "worker/comm/transport/device_transport.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/comm/protocol/transfer_steps.h"

namespace meshwright::worker::comm {
namespace {

constexpr auto kShortest = std::chrono::microseconds(20);
constexpr auto kLongest = std::chrono::microseconds(1000);

void PutLength(uint32_t length, std::array<std::byte, 4>& bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(length >> (8 * i));
  }
}

uint32_t GetLength(const std::array<std::byte, 4>& bytes) {
  uint32_t length = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    length |= std::to_integer<uint32_t>(bytes[i]) << (8 * i);
  }
  return length;
}

}  // namespace

DeviceTransport::DeviceTransport(const Plan& plan, int self,
                                 std::unique_ptr<Transport> control,
                                 After after, DeviceChannels& channels)
    : plan_(plan),
      control_(std::move(control)),
      after_(std::move(after)),
      channels_(channels) {
  for (const Task& task : plan.tasks) {
    for (const TransferStep& step : MakeTransferSteps(plan, task)) {
      if (step.from == self) outgoing_[step.to];
      if (step.to == self) incoming_[step.from];
    }
  }
}

DeviceTransport::~DeviceTransport() = default;

void DeviceTransport::Run(Transport::Events& events) {
  events_ = &events;
  control_->Run(*this);
}

// ---- channels ----

void DeviceTransport::Connected() {
  connecting_ = true;
  connecting_since_ = Clock::now();
  OpenOutgoing();
  LookSoon();
}

void DeviceTransport::OpenOutgoing() {
  for (auto& [peer, link] : outgoing_) {
    auto id = channels_.NewId();
    if (!id.ok()) return FailChannel(peer, id.status());
    link.id = *std::move(id);
    Frame frame;
    frame.type = FrameType::kChannel;
    frame.payload_bytes = static_cast<uint32_t>(link.id.size());
    control_->Send(peer, frame, std::as_bytes(std::span(link.id)));
    auto channel = channels_.Open(link.id, /*sends=*/true);
    if (!channel.ok()) return FailChannel(peer, channel.status());
    link.channel = *std::move(channel);
  }
}

void DeviceTransport::OpenIncoming(int peer) {
  Incoming& link = incoming_.at(peer);
  auto channel =
      channels_.Open(std::string(reinterpret_cast<const char*>(link.id.data()),
                                 link.id.size()),
                     /*sends=*/false);
  if (!channel.ok()) return FailChannel(peer, channel.status());
  link.channel = *std::move(channel);
}

void DeviceTransport::FailChannel(int peer, const absl::Status& status) {
  if (events_ == nullptr) return;
  events_->Lost(peer,
                absl::Status(status.code(),
                             absl::StrCat("host ", plan_.hosts[peer].id,
                                          " was lost: ", status.message())));
}

void DeviceTransport::CutAll() {
  events_ = nullptr;
  for (auto& [peer, link] : outgoing_) {
    if (link.channel != nullptr) link.channel->Abort();
  }
  for (auto& [peer, link] : incoming_) {
    if (link.channel != nullptr) link.channel->Abort();
  }
}

// ---- what goes out ----

void DeviceTransport::Send(int peer, const Frame& frame,
                           std::span<const std::byte> payload,
                           std::function<void()> sent) {
  if (frame.type != FrameType::kChunk) {
    return control_->Send(peer, frame, payload, std::move(sent));
  }
  if (events_ == nullptr) return;
  Outgoing& link = outgoing_.at(peer);
  link.queue.push_back({frame, payload, std::move(sent)});
  if (!link.busy) Begin(peer, link);
}

void DeviceTransport::Begin(int peer, Outgoing& link) {
  link.busy = true;
  const Parcel& parcel = link.queue.front();
  PutLength(parcel.frame.payload_bytes, link.length);
  Frame frame = parcel.frame;
  frame.type = FrameType::kDeviceChunk;
  frame.payload_bytes = static_cast<uint32_t>(link.length.size());
  control_->Send(peer, frame, link.length);
  const absl::Status status = link.channel->Send(parcel.payload);
  if (!status.ok()) return FailChannel(peer, status);
  pause_ = kShortest;
  LookSoon();
}

void DeviceTransport::Close(const Frame& last, const std::string& text) {
  CutAll();
  control_->Close(last, text);
}

void DeviceTransport::Drop() {
  CutAll();
  control_->Drop();
}

// ---- what comes ----

absl::StatusOr<std::span<std::byte>> DeviceTransport::Place(
    int peer, const Frame& frame) {
  if (events_ == nullptr) return absl::CancelledError("it is over");
  if (frame.type != FrameType::kChannel &&
      frame.type != FrameType::kDeviceChunk) {
    return events_->Place(peer, frame);
  }
  if (!Expected(peer, frame)) {
    return absl::DataLossError("it spoke of a GPU connection out of turn");
  }
  Incoming& link = incoming_.at(peer);
  if (frame.type == FrameType::kChannel) return std::span<std::byte>(link.id);
  return std::span<std::byte>(link.length);
}

void DeviceTransport::Arrived(int peer, const Frame& frame) {
  if (events_ == nullptr) return;
  const bool of_channel = frame.type == FrameType::kChannel ||
                          frame.type == FrameType::kDeviceChunk;
  if (of_channel && !Expected(peer, frame)) {
    return FailChannel(
        peer, absl::DataLossError("it spoke of a GPU connection out of turn"));
  }
  if (frame.type == FrameType::kChannel) return OpenIncoming(peer);
  const auto found = incoming_.find(peer);
  if (found == incoming_.end() || frame.type == FrameType::kAbort) {
    return events_->Arrived(peer, frame);
  }
  Incoming& link = found->second;
  Frame came = frame;
  if (of_channel) came.payload_bytes = GetLength(link.length);
  if (link.busy) {
    link.waiting.push_back(came);
    return;
  }
  Announced(peer, came);
}

// Of a frame about a channel: it names one that is missing, or uses one.
bool DeviceTransport::Expected(int peer, const Frame& frame) const {
  const auto link = incoming_.find(peer);
  if (link == incoming_.end()) return false;
  const bool names = frame.type == FrameType::kChannel;
  return names == (link->second.channel == nullptr) &&
         frame.payload_bytes ==
             (names ? link->second.id.size() : link->second.length.size());
}

// A frame whose turn it is; of a chunk, its length stands in for its payload.
void DeviceTransport::Announced(int peer, const Frame& frame) {
  if (frame.type != FrameType::kDeviceChunk) {
    return events_->Arrived(peer, frame);
  }
  Incoming& link = incoming_.at(peer);
  link.chunk = frame;
  link.chunk.type = FrameType::kChunk;
  const auto place = events_->Place(peer, link.chunk);
  if (events_ == nullptr) return;
  if (!place.ok()) return FailChannel(peer, place.status());
  link.busy = true;
  const absl::Status status = link.channel->Receive(*place);
  if (!status.ok()) return FailChannel(peer, status);
  pause_ = kShortest;
  LookSoon();
}

void DeviceTransport::Lost(int peer, const absl::Status& why) {
  if (events_ != nullptr) events_->Lost(peer, why);
}

// ---- looking after the channels ----

void DeviceTransport::LookSoon() {
  if (looking_ || events_ == nullptr) return;
  looking_ = true;
  pause_ = std::max<Clock::duration>(pause_, kShortest);
  after_(pause_, [this] {
    looking_ = false;
    Look();
  });
}

void DeviceTransport::Look() {
  if (events_ == nullptr) return;
  const bool moved =
      connecting_ ? LookAtConnecting() : LookAtOutgoing() | LookAtIncoming();
  if (events_ == nullptr) return;
  pause_ = moved ? Clock::duration(kShortest)
                 : std::min<Clock::duration>(2 * pause_, kLongest);
  const auto busy = [](const auto& entry) { return entry.second.busy; };
  if (connecting_ || std::ranges::any_of(outgoing_, busy) ||
      std::ranges::any_of(incoming_, busy)) {
    LookSoon();
  }
}

bool DeviceTransport::IsIdle(int peer, DeviceChannel& channel) {
  const absl::StatusOr<bool> idle = channel.Idle();
  if (!idle.ok()) FailChannel(peer, idle.status());
  return idle.ok() && *idle;
}

bool DeviceTransport::LookAtConnecting() {
  const auto stands = [&](const auto& links) {
    for (const auto& [peer, link] : links) {
      if (link.channel == nullptr) return false;
      if (!IsIdle(peer, *link.channel)) return false;
    }
    return true;
  };
  if (!stands(outgoing_) || !stands(incoming_)) return false;
  connecting_ = false;
  events_->Connected();
  return true;
}

bool DeviceTransport::LookAtOutgoing() {
  bool moved = false;
  for (auto& [peer, link] : outgoing_) {
    if (events_ == nullptr) return true;
    if (!link.busy) continue;
    if (!IsIdle(peer, *link.channel)) continue;
    moved = true;
    const auto sent = std::move(link.queue.front().sent);
    link.queue.pop_front();
    link.busy = false;
    if (sent) sent();
    // `sent` may have begun the next one.
    if (events_ != nullptr && !link.busy && !link.queue.empty()) {
      Begin(peer, link);
    }
  }
  return moved;
}

bool DeviceTransport::LookAtIncoming() {
  bool moved = false;
  for (auto& [peer, link] : incoming_) {
    if (events_ == nullptr) return true;
    if (!link.busy) continue;
    if (!IsIdle(peer, *link.channel)) continue;
    moved = true;
    link.busy = false;
    events_->Arrived(peer, link.chunk);
    while (events_ != nullptr && !link.busy && !link.waiting.empty()) {
      const Frame next = link.waiting.front();
      link.waiting.pop_front();
      Announced(peer, next);
    }
  }
  return moved;
}

void DeviceTransport::Tick() {
  if (events_ == nullptr) return;
  const double since =
      std::chrono::duration<double>(Clock::now() - connecting_since_).count();
  if (connecting_ && since > plan_.deadline_seconds / 2) {
    const auto missing = [&](const auto& links) -> std::optional<int> {
      for (const auto& [peer, link] : links) {
        if (link.channel == nullptr || !link.channel->Idle().value_or(false)) {
          return peer;
        }
      }
      return std::nullopt;
    };
    const std::optional<int> out = missing(outgoing_);
    const std::optional<int> peer = out.has_value() ? out : missing(incoming_);
    if (peer.has_value()) {
      return FailChannel(
          *peer, absl::DeadlineExceededError(
                     absl::StrCat("its GPU and this host's did not connect in ",
                                  plan_.deadline_seconds / 2, " s")));
    }
  }
  events_->Tick();
}

}  // namespace meshwright::worker::comm
