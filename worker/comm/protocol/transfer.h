// Transfer: one task at one rank.
//
// Concept: what this rank still has to send and to get of a slice
// (transfer_steps.h), which bytes of it are here, and its checksum. Bytes come
// into `staging`, which nobody sees before the whole plan is done; a sender's
// are its source. Shapes: offsets are in the slice. Threads: one at a time;
// plain state, no clock and no network. Errors: Expect and Arrived give
// kDataLoss for a chunk that does not continue a step, in words that fit behind
// "host X".
#ifndef MESHWRIGHT_WORKER_COMM_PROTOCOL_TRANSFER_H_
#define MESHWRIGHT_WORKER_COMM_PROTOCOL_TRANSFER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/comm/protocol/checksum.h"
#include "worker/comm/protocol/plan.h"
#include "worker/comm/protocol/transfer_steps.h"

namespace meshwright::worker::comm {

struct Chunk {
  uint32_t step = 0;  // index into MakeTransferSteps
  int to = 0;
  int64_t offset = 0;
  std::span<const std::byte> bytes;
};

class Transfer {
 public:
  // The sender's side; `source` is the slice and outlives this.
  Transfer(const Plan& plan, const Task& task, int self,
           std::span<const std::byte> source);
  // A receiver's; `staging` has the slice's size and outlives this.
  Transfer(const Plan& plan, const Task& task, int self,
           std::span<std::byte> staging);

  // The next chunk to send, if it is here; it stays the next until Sent.
  std::optional<Chunk> Next() const;
  // `chunk` is what Next gave.
  void Sent(const Chunk& chunk);
  bool all_sent() const { return next_step_ == outgoing_.size(); }

  // Where the next bytes of `step`, coming from `from`, belong.
  absl::StatusOr<std::span<std::byte>> Expect(int from, uint32_t step,
                                              uint64_t offset, uint32_t bytes);
  // They are there. Call after Expect with the same figures.
  void Arrived(uint32_t step, uint32_t bytes);
  bool all_here() const { return missing_ == 0; }
  int64_t sent_bytes() const { return sent_bytes_; }
  int64_t received_bytes() const { return received_bytes_; }

  // Peers that began a step to this rank and have not ended it.
  std::vector<int> Midway() const;

  // Of the slice; once all_here, or all_sent at the sender.
  uint64_t Checksum();

 private:
  struct Progress {
    uint32_t index;  // into MakeTransferSteps
    TransferStep step;
    int64_t done = 0;
  };

  Transfer(const Plan& plan, const Task& task, int self,
           std::span<const std::byte> bytes, std::span<std::byte> staging);
  int64_t HeldFrom(int64_t offset) const;
  Progress* Incoming(uint32_t step);

  std::span<const std::byte> bytes_;
  std::span<std::byte> staging_;  // empty at the sender
  int64_t chunk_bytes_ = 0;
  std::vector<Progress> outgoing_;
  std::vector<Progress> incoming_;
  size_t next_step_ = 0;
  int64_t missing_ = 0;
  int64_t sent_bytes_ = 0;
  int64_t received_bytes_ = 0;
  RunningChecksum checksum_;
};

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_PROTOCOL_TRANSFER_H_
