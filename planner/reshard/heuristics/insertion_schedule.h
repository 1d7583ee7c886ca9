// Places: jobs in the order of their ends, what lies before and behind each,
// and the best place for one more.
//
// Concept: ports of one link each. A job's end is the longest chain of jobs up
// to it, each sharing a port with the next; `behind` is the longest that
// follows. A job that is not in the order goes where the longest chain through
// it is least, over all places and all of its senders:
//
//     order by end:   a  b  c | d  e         chain = what of a, b, c it meets
//                            job                     ends last + its own ticks
//                                                  + the longest from d or e
//
// No place is better than these: let T be the last end of what it would follow.
// To follow all that it meets and that ends by T adds nothing before it, and
// leaves no more behind. What starts later cannot come before by any chain.
// A chain not through the job stays as it was without it, so the makespan is
// known at once.
// Threads: none; scratch of one search.
#ifndef MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_INSERTION_SCHEDULE_H_
#define MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_INSERTION_SCHEDULE_H_

#include <optional>
#include <random>
#include <vector>

#include "planner/reshard/problem/conflicts.h"
#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

class Places {
 public:
  struct Place {
    int choice = 0;
    int out = 0;
    Ticks ticks = 0;
    Ticks end = 0;
    Ticks behind = 0;
  };
  struct State {
    std::vector<int> order;
    std::vector<Place> of;  // per job, also of those not in the order
  };

  // `instance` must outlive it; its ports have one link (OneLinkEach). Starts
  // with no job in the order.
  explicit Places(const Instance& instance);

  const State& state() const { return state_; }
  void Restore(const State& state) { state_ = state; }
  void Restore(const Order& order);
  Order ToOrder() const;

  // Ends, the order by them, and what is behind; the makespan.
  Ticks Time();

  // The timed order without them; Time is due.
  void Remove(const std::vector<int>& jobs);
  // Into the timed order; the longest chain through the job. Of equal places
  // one at random. Nothing, and nothing done, if all are above `limit`.
  // Time is due.
  std::optional<Ticks> Insert(int job, Ticks limit, std::mt19937_64& random);

  // Ports times ticks that the job takes from a sender.
  Ticks Area(int job) const;

 private:
  void Choose(int job, int choice);
  // When all ports of the job are free; then they are for as long again.
  Ticks Append(int job);

  const Instance& instance_;
  const Conflicts conflicts_;
  std::vector<int> first_;  // of a job's ports, and the end
  std::vector<int> ports_;  // its receivers, behind the out ports
  std::vector<Ticks> free_;
  std::vector<bool> gone_;
  State state_;
};

bool OneLinkEach(const Instance& instance);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_INSERTION_SCHEDULE_H_
