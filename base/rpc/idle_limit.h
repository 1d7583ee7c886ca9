// IdleLimit: ends a stream whose client sends nothing for a while.
//
// Concept: what a stream holds is held for as long as its client keeps it open,
// and one that sends nothing may do so for ever. The stream says when it waits
// for its client, and when something came. An alarm rings once per patience,
// and a stream that has waited since the last time is ended: after one patience
// at least, and two at most.
// Threads: Await and Note from any, one at a time; `end` is called on gRPC's.
// Ownership: `end` may be running when the limit goes, so it holds its stream
// weakly. Errors: none.
#ifndef MESHWRIGHT_BASE_RPC_IDLE_LIMIT_H_
#define MESHWRIGHT_BASE_RPC_IDLE_LIMIT_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/time/time.h"

namespace meshwright::base {

class IdleLimit {
 public:
  // `end` is called once at most. The stream does not wait yet.
  IdleLimit(absl::Duration patience, std::function<void()> end);
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

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_RPC_IDLE_LIMIT_H_
