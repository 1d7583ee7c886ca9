// RandomReshard: problems for tests and benches, made from a seed.
#ifndef MESHWRIGHT_PLANNER_RESHARD_TESTING_RANDOM_RESHARD_H_
#define MESHWRIGHT_PLANNER_RESHARD_TESTING_RANDOM_RESHARD_H_

#include <cstdint>

#include "planner/reshard/decompose/decompose.h"
#include "planner/reshard/problem/reshard_problem.h"

namespace meshwright::reshard {

struct Kind {
  int tasks = 5;
  int sender_hosts = 3;
  int receiver_hosts = 3;
  int max_senders = 3;  // of one task
  int max_receivers = 3;
  int64_t max_bytes = 10;   // sizes are 1 .. max_bytes
  bool even_sizes = false;  // all of one size
  bool speeds = false;      // ports and routes of unequal speed
  bool links = false;       // ports of up to three links
};

ReshardProblem RandomTasks(uint64_t seed, const Kind& kind);

// Meshes of one to three axes, any specs, uneven parts; at times hosts that are
// named, share names or have different numbers of devices.
Resharding RandomResharding(uint64_t seed);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_TESTING_RANDOM_RESHARD_H_
