// IdleWatch: whether a worker may have its devices, by who else uses them.
//
// Concept: it looks at the devices now and then and says what follows.
//
//            nobody for `idle_for`
//     away ───────────────────────▶ serving
//          ◀───────────────────────
//            somebody for `busy_for`
//
// It starts away. Looks that are more than `longest_gap` apart say nothing of
// the time between them, as after a suspended machine: the wait begins anew.
// Threads: one. Errors: none.
#ifndef MESHWRIGHT_WORKER_SERVICE_IDLE_WATCH_H_
#define MESHWRIGHT_WORKER_SERVICE_IDLE_WATCH_H_

#include <optional>

#include "absl/time/time.h"

namespace meshwright::worker {

class IdleWatch {
 public:
  struct Rules {
    absl::Duration idle_for;
    absl::Duration busy_for;
    absl::Duration longest_gap = absl::Seconds(5);
  };

  explicit IdleWatch(const Rules& rules) : rules_(rules) {}

  // A look at `now`. True: the worker may serve.
  bool Look(absl::Time now, bool is_used);

 private:
  Rules rules_;
  bool serves_ = false;
  std::optional<absl::Time> last_;
  std::optional<absl::Time> since_;  // what speaks against `serves_`
};

}  // namespace meshwright::worker

#endif  // MESHWRIGHT_WORKER_SERVICE_IDLE_WATCH_H_
