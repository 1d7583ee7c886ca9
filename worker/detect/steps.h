// MakeSteps: a collective as exchanges between two hosts at a time.
//
// Concept: the schedules whose times timing.h counts. All-gather,
// reduce-scatter and all-reduce go around a ring; an all-to-all sends to the
// next host, then to the one after it; a broadcast goes along a binomial tree.
// A send/receive goes forth and back, so that its steps take twice its time.
// Bytes are moved and not added up: links are timed, not processors. Shapes:
// ranks 0..devices-1 within the group. Threads: pure.
#ifndef MESHWRIGHT_WORKER_DETECT_STEPS_H_
#define MESHWRIGHT_WORKER_DETECT_STEPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/cluster/timing.h"

namespace meshwright::worker::detect {

struct Step {
  std::optional<int> to;
  std::optional<int> from;
  int64_t bytes = 0;
};

// What `rank` does; `bytes` are held per device before. `root`: of a broadcast.
std::vector<Step> MakeSteps(cluster::Operation operation, int devices, int rank,
                            int64_t bytes, int root);

// The root of a broadcast that cannot begin before the one from `root` is over:
// the last host that it reaches.
int FindNextRoot(int devices, int root);

}  // namespace meshwright::worker::detect

#endif  // MESHWRIGHT_WORKER_DETECT_STEPS_H_
