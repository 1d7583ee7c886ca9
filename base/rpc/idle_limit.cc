#include "base/rpc/idle_limit.h"

#include <grpcpp/alarm.h>

#include <atomic>
#include <utility>

#include "absl/time/clock.h"

namespace meshwright::base {

namespace {

constexpr int64_t kEnded = -1;

}  // namespace

struct IdleLimit::State {
  absl::Duration patience;
  std::weak_ptr<const void> stream;
  std::function<void()> end;
  // How often it began or ceased to wait: odd while it waits. Or kEnded.
  std::atomic<int64_t> turns = 0;
  std::unique_ptr<grpc::Alarm> alarm;
};

IdleLimit::IdleLimit(absl::Duration patience, std::weak_ptr<const void> stream,
                     std::function<void()> end)
    : state_(std::make_shared<State>()) {
  state_->patience = patience;
  state_->stream = std::move(stream);
  state_->end = std::move(end);
  Ring(state_, /*seen=*/0);
}

// The alarm's function may be running: it holds the state until its end.
IdleLimit::~IdleLimit() = default;

void IdleLimit::Await() {
  int64_t now = state_->turns;
  if (now % 2 == 0) state_->turns.compare_exchange_strong(now, now + 1);
}

bool IdleLimit::Note() {
  int64_t now = state_->turns;
  if (now == kEnded || now % 2 == 0) return now != kEnded;
  return state_->turns.compare_exchange_strong(now, now + 1);
}

// In a patience, unless it has waited since it was seen to.
void IdleLimit::Ring(const std::shared_ptr<State>& state, int64_t seen) {
  state->alarm = std::make_unique<grpc::Alarm>();
  state->alarm->Set(absl::ToChronoTime(absl::Now() + state->patience),
                    [weak = std::weak_ptr(state), seen](bool is_time) {
                      const std::shared_ptr<State> it = weak.lock();
                      if (!is_time || it == nullptr) return;
                      int64_t now = it->turns;
                      const bool is_idle =
                          now == seen && now % 2 == 1 &&
                          it->turns.compare_exchange_strong(now, kEnded);
                      if (!is_idle) return Ring(it, now);
                      const auto stream = it->stream.lock();
                      if (stream != nullptr) it->end();
                    });
}

}  // namespace meshwright::base
