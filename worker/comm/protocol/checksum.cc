#include "worker/comm/protocol/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace meshwright::worker::comm {

struct RunningChecksum::State {
  XXH3_state_t xxh3;
};

RunningChecksum::RunningChecksum(std::span<const std::byte> bytes)
    : bytes_(bytes), state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh3);
}

RunningChecksum::~RunningChecksum() = default;
RunningChecksum::RunningChecksum(RunningChecksum&&) noexcept = default;
RunningChecksum& RunningChecksum::operator=(RunningChecksum&&) noexcept =
    default;

void RunningChecksum::Advance(int64_t end) {
  const auto until = static_cast<size_t>(end);
  if (until <= hashed_) return;
  XXH3_64bits_update(&state_->xxh3, bytes_.data() + hashed_, until - hashed_);
  hashed_ = until;
}

bool RunningChecksum::whole() const { return hashed_ == bytes_.size(); }

uint64_t RunningChecksum::value() const {
  return XXH3_64bits_digest(&state_->xxh3);
}

}  // namespace meshwright::worker::comm
