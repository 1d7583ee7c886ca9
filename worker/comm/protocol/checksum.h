// RunningChecksum: XXH3 (64 bit) of a slice whose bytes come bit by bit.
//
// Concept: the bytes lie where they will stay. `Advance` hashes those up to an
// offset that are not hashed yet. The work is thus spread over the transfer
// instead of standing at its end. XXH3 finds errors, not attackers.
// Threads: one at a time.
#ifndef MESHWRIGHT_WORKER_COMM_PROTOCOL_CHECKSUM_H_
#define MESHWRIGHT_WORKER_COMM_PROTOCOL_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace meshwright::worker::comm {

class RunningChecksum {
 public:
  explicit RunningChecksum(std::span<const std::byte> bytes);
  ~RunningChecksum();
  RunningChecksum(RunningChecksum&&) noexcept;
  RunningChecksum& operator=(RunningChecksum&&) noexcept;

  // All bytes below `end` are final. Smaller than before: nothing to do.
  void Advance(int64_t end);
  // Whether all bytes are hashed.
  bool whole() const;
  // Of the bytes so far.
  uint64_t value() const;

 private:
  struct State;
  std::span<const std::byte> bytes_;
  size_t hashed_ = 0;
  std::unique_ptr<State> state_;
};

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_PROTOCOL_CHECKSUM_H_
