// IdleLimit: ends a stream whose client sends or takes nothing for a while.
//
// Concept: what a stream holds is held for as long as its client keeps it open,
// and one that sends nothing may do so for ever. The stream says when it waits
// for its client, and when something came. An alarm rings once per patience,
// and a stream that has waited since the last time is ended: after one patience
// at least, and two at most.
//   A message that waits behind a full window is not ended by a status. So a
// WriteLimit cancels the call, and finishes it when that write is done as well.
// Threads: Await and Note from any, one at a time; the functions are called on
// gRPC's, `finish` also by Note.
// Ownership: the limit is of its stream, which it holds weakly. A function is
// called only while the stream lives, and the stream is held until it returns.
// Errors: none.
#ifndef MESHWRIGHT_BASE_RPC_IDLE_LIMIT_H_
#define MESHWRIGHT_BASE_RPC_IDLE_LIMIT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/time/time.h"

namespace meshwright::base {

class IdleLimit {
 public:
  // `end` is called once at most. The stream does not wait yet.
  IdleLimit(absl::Duration patience, std::weak_ptr<const void> stream,
            std::function<void()> end);
  ~IdleLimit();
  IdleLimit(const IdleLimit&) = delete;
  IdleLimit& operator=(const IdleLimit&) = delete;

  // The stream waits for its client; again: since the first time.
  void Await();
  // Something came. False: it came too late, and `end` was or is called.
  bool Note();

 private:
  struct State;
  static void Ring(const std::shared_ptr<State>& state, int64_t seen);

  const std::shared_ptr<State> state_;
};

class WriteLimit {
 public:
  // `cancel` cancels the call, and `finish` finishes it. Each is called once at
  // most, `finish` after `cancel`.
  WriteLimit(absl::Duration patience, std::weak_ptr<const void> stream,
             std::function<void()> cancel, std::function<void()> finish)
      : finish_(std::move(finish)),
        idle_(patience, std::move(stream), [this, cancel = std::move(cancel)] {
          cancel();
          EndOnce();
        }) {}

  // A write begins.
  void Await() { idle_.Await(); }
  // The write is done. False: too late, and the stream does no more: `finish`
  // was or is called.
  bool Note() {
    if (idle_.Note()) return true;
    EndOnce();
    return false;
  }

 private:
  // Called by the limit, and when the write that it ended is done. gRPC's
  // context lives until the call is finished, so the last of both finishes it.
  void EndOnce() {
    if (has_one_ended_.exchange(true)) finish_();
  }

  const std::function<void()> finish_;
  std::atomic<bool> has_one_ended_ = false;
  IdleLimit idle_;
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_RPC_IDLE_LIMIT_H_
