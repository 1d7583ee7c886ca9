#include "worker/comm/protocol/transfer.h"

#include <algorithm>

#include "worker/comm/protocol/chunks.h"

namespace meshwright::worker::comm {

Transfer::Transfer(const Plan& plan, const Task& task, int self,
                   std::span<const std::byte> source)
    : Transfer(plan, task, self, source, {}) {}

Transfer::Transfer(const Plan& plan, const Task& task, int self,
                   std::span<std::byte> staging)
    : Transfer(plan, task, self, staging, staging) {}

Transfer::Transfer(const Plan& plan, const Task& task, int self,
                   std::span<const std::byte> bytes,
                   std::span<std::byte> staging)
    : bytes_(bytes),
      staging_(staging),
      chunk_bytes_(FindChunkBytes(plan, task)),
      checksum_(bytes) {
  const std::vector<TransferStep> steps = MakeTransferSteps(plan, task);
  for (size_t i = 0; i < steps.size(); ++i) {
    const Progress progress = {static_cast<uint32_t>(i), steps[i]};
    if (steps[i].from == self) outgoing_.push_back(progress);
    if (steps[i].to != self) continue;
    incoming_.push_back(progress);
    missing_ += steps[i].size_bytes;
  }
}

// The end of the bytes that are here from `offset` on.
int64_t Transfer::HeldFrom(int64_t offset) const {
  if (staging_.empty()) return static_cast<int64_t>(bytes_.size());
  int64_t end = offset;
  for (bool grown = true; grown;) {
    grown = false;
    for (const Progress& part : incoming_) {
      const int64_t here = part.step.offset + part.done;
      if (part.step.offset <= end && end < here) {
        end = here;
        grown = true;
      }
    }
  }
  return end;
}

std::optional<Chunk> Transfer::Next() const {
  if (all_sent()) return std::nullopt;
  const Progress& next = outgoing_[next_step_];
  const int64_t offset = next.step.offset + next.done;
  const int64_t bytes =
      std::min(chunk_bytes_, next.step.size_bytes - next.done);
  if (HeldFrom(offset) < offset + bytes) return std::nullopt;
  return Chunk{
      next.index, next.step.to, offset,
      bytes_.subspan(static_cast<size_t>(offset), static_cast<size_t>(bytes))};
}

void Transfer::Sent(const Chunk& chunk) {
  Progress& next = outgoing_[next_step_];
  const auto bytes = static_cast<int64_t>(chunk.bytes.size());
  next.done += bytes;
  sent_bytes_ += bytes;
  if (next.done == next.step.size_bytes) ++next_step_;
  if (staging_.empty()) checksum_.Advance(chunk.offset + bytes);
}

Transfer::Progress* Transfer::Incoming(uint32_t step) {
  const auto found = std::ranges::find(incoming_, step, &Progress::index);
  return found == incoming_.end() ? nullptr : &*found;
}

absl::StatusOr<std::span<std::byte>> Transfer::Expect(int from, uint32_t step,
                                                      uint64_t offset,
                                                      uint32_t bytes) {
  const Progress* const part = Incoming(step);
  if (part == nullptr || part->step.from != from) {
    return absl::DataLossError("it sent a chunk that is not its to send");
  }
  const int64_t place = part->step.offset + part->done;
  if (offset != static_cast<uint64_t>(place) || bytes == 0 ||
      bytes > part->step.size_bytes - part->done) {
    return absl::DataLossError("it sent a chunk out of its turn");
  }
  return staging_.subspan(static_cast<size_t>(place), bytes);
}

void Transfer::Arrived(uint32_t step, uint32_t bytes) {
  Progress* const part = Incoming(step);
  part->done += bytes;
  missing_ -= bytes;
  received_bytes_ += bytes;
  checksum_.Advance(HeldFrom(0));
}

std::vector<int> Transfer::Midway() const {
  std::vector<int> peers;
  for (const Progress& part : incoming_) {
    if (part.done > 0 && part.done < part.step.size_bytes) {
      peers.push_back(part.step.from);
    }
  }
  return peers;
}

uint64_t Transfer::Checksum() {
  checksum_.Advance(static_cast<int64_t>(bytes_.size()));
  return checksum_.value();
}

}  // namespace meshwright::worker::comm
