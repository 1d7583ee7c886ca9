// Durations: how long a task takes, in whole ticks.
//
// Concept: where every transfer goes at one speed, time is counted in bytes.
// Sums and comparisons are then exact, and a plan "at the bound" is exactly
// there. Where speeds differ, a tick is a picosecond, rounded to the nearest,
// at least one. A broadcast goes as fast as the slowest of its sender's
// outgoing link, its receivers' incoming links and the routes from the sender
// to them.
// Threads: const after construction. `problem` must outlive it.
// Errors: CheckSum gives kInvalidArgument, naming the task at which the sum of
// the slowest transfers of all tasks passes 2,000,000 seconds. It never does
// where time is counted in bytes.
#ifndef MESHWRIGHT_PLANNER_RESHARD_PROBLEM_DURATIONS_H_
#define MESHWRIGHT_PLANNER_RESHARD_PROBLEM_DURATIONS_H_

#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "planner/reshard/problem/reshard_problem.h"

namespace meshwright::reshard {

using Ticks = int64_t;

class Durations {
 public:
  explicit Durations(const ReshardProblem& problem);

  // Bytes per second; 0: the sender does not reach every receiver.
  double Speed(const UnitTask& task, int sender) const;
  // The slowest of both ports and of the route between them, if it has one.
  double SpeedBetween(int sender, int receiver) const;

  // `bytes` of the task from `sender`, which reaches its receivers.
  Ticks ComputeTicks(const UnitTask& task, int sender, int64_t bytes) const;

  double Seconds(Ticks ticks) const {
    return static_cast<double>(ticks) / ticks_per_second_;
  }
  // The nearest to so many seconds.
  Ticks Nearest(double seconds) const {
    return std::llrint(seconds * ticks_per_second_);
  }
  // Is a tick a byte?
  bool uniform() const { return uniform_; }

  // Whether the ticks of all tasks one after another fit 62 bits.
  absl::Status CheckSum() const;

 private:
  const ReshardProblem& problem_;
  struct Ends {
    int sender = 0;
    int receiver = 0;

    friend bool operator==(const Ends&, const Ends&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Ends& ends) {
      return H::combine(std::move(h), ends.sender, ends.receiver);
    }
  };

  absl::flat_hash_map<Ends, double> routes_;
  bool uniform_ = true;
  double ticks_per_second_ = 1e12;
};

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_PROBLEM_DURATIONS_H_
