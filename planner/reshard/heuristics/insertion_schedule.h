// InsertionSchedule: jobs by end, with the head and tail of each, and the best
// position for one more.
//
// Concept: a job's end is the longest chain of jobs up to it, each sharing a
// link with the next. Its tail is the longest chain behind it. A job that is
// not in the order goes where the longest chain through it is shortest. The
// choice is over all positions, all of its senders and the links of its ports:
//
//     order by end:   a  b  c | d  e         chain = end of the last of a, b, c
//                            job                     that shares a link with it
//                                                  + its own ticks
//                                                  + the longest tail of d, e
//
// With one link a port no position is better than these: let T be the last end
// of what the job would follow. To follow all that shares a link with it and
// ends by T adds nothing before it, and leaves no more behind. A job that
// starts later cannot come before by any chain. Of a port of several links the
// job takes the one that adds least to the chain, port after port. A chain not
// through the job stays as it was without it, so the makespan is known at once.
// Threads: none; scratch of one search.
// Source: heads and tails in insertion for job shops, Werner and Winkler 1995;
// here a job occupies several machines at once.
#ifndef MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_INSERTION_SCHEDULE_H_
#define MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_INSERTION_SCHEDULE_H_

#include <optional>
#include <random>
#include <vector>

#include "planner/reshard/problem/conflicts.h"
#include "planner/reshard/problem/instance.h"
#include "planner/reshard/problem/link_times.h"

namespace meshwright::reshard {

class InsertionSchedule {
 public:
  struct JobState {
    int choice = 0;
    int out = 0;
    Ticks ticks = 0;
    Ticks end = 0;
    Ticks tail = 0;
  };
  struct State {
    std::vector<int> order;
    std::vector<JobState> jobs;  // also of those not in the order
    std::vector<int> links;      // one per port of every job
  };

  // `instance` must outlive it. Starts with no job in the order.
  explicit InsertionSchedule(const Instance& instance);

  const State& state() const { return state_; }
  // Back to a state of this object.
  void Restore(const State& state) { state_ = state; }
  // Links as Replay gives them.
  void Restore(const Order& order);
  // Replay times it no later.
  Order ToOrder() const;

  // Ends, the order by them, and tails; the makespan.
  Ticks Time();

  // The timed order without them; Time is due.
  void Remove(const std::vector<int>& jobs);
  // Into the timed order; the longest chain through the job. Of equal positions
  // one at random. Nothing, and nothing done, if all are above `limit`.
  // Time is due.
  std::optional<Ticks> Insert(int job, Ticks limit, std::mt19937_64& random);

  // Ports times ticks that the job takes from a sender.
  Ticks Area(int job) const;

 private:
  // Jobs of the order before a position that share a link with the job to be
  // inserted, and the longest tail behind the position.
  struct Queue {
    std::vector<int> jobs;
    Ticks behind = 0;
  };
  struct Position {
    Ticks chain = 0;
    int choice = 0;
    size_t at = 0;
    std::vector<int> links;  // of the ports that have several
    size_t equal = 0;        // positions seen with this chain; 0: none
  };

  void Choose(int job, int choice);
  // The links of a job are [first_[job], first_[job + 1]) of state_.links: the
  // sender's, then the receivers'.
  void SetLink(int job, int index, int link) {
    state_.links[first_[job] + index] = link;
  }
  int Port(int job, int index) const;
  void FindPositions(int job, int choice, Position& best,
                     std::mt19937_64& random);
  void FillQueues(int job, const Choice& sender);
  // Behind the position from now on.
  void Pass(Queue& queue, int job);
  // The head and tail of the queues together; sets the links chosen.
  Ticks ShortestChain(Ticks ticks);
  // When all links of the job are free; then they are for as long again.
  Ticks Append(int job);

  const Instance& instance_;
  const Conflicts conflicts_;
  LinkTimes ports_;  // out ports, then in ports
  std::vector<int> first_;
  std::vector<Ticks> free_;  // per link
  std::vector<bool> removed_;
  State state_;
  // Of one insertion. The last queue is of all ports that have one link; each
  // link of another port has its own.
  std::vector<Queue> queues_;
  std::vector<int> several_;       // the job's ports of several links
  std::vector<bool> of_several_;   // per link: of one of these
  std::vector<size_t> hits_;       // positions of jobs in some queue
  std::vector<int> links_chosen_;  // per several_
};

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_INSERTION_SCHEDULE_H_
