// EventClock: an order of importance turned into a schedule by events.
//
// Concept: whenever links fall free, the jobs that wait are looked through in
// the order given, and each whose ports are all free starts, from the sender
// chosen for it. Nothing waits that could start. Ports are bits, so that a look
// at a job is one comparison per 64 ports.
// Threads: none; scratch of one search.
#ifndef MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_EVENT_CLOCK_H_
#define MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_EVENT_CLOCK_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

class EventClock {
 public:
  explicit EventClock(const Instance& instance);

  // Times the order; starts and ends can be asked for until the next.
  Ticks Run(const Order& order);

  const std::vector<Ticks>& starts() const { return start_; }
  const std::vector<Ticks>& ends() const { return end_; }

 private:
  // Of the first `count` that wait; returns how many still do, at the front.
  template <int kWords>  // 0: any number
  size_t StartWhatCan(size_t count, Ticks now);
  void Start(const Placed& placed, Ticks now);
  void Finish(const Placed& placed);
  void Take(int port);
  void Release(int port);

  const Instance& instance_;
  const int words_;
  std::vector<uint64_t> receivers_;  // bits of in ports, words_ per job
  std::vector<uint64_t> full_;       // bits of ports without a free link
  std::vector<int> links_;           // per port: out ports, then in ports
  std::vector<int> free_;
  std::vector<Ticks> start_, end_;
  std::vector<Placed> waiting_;
  std::vector<uint64_t> masks_;  // of who waits: all ports, words_ each
  std::vector<std::pair<Ticks, Placed>> running_;  // a heap, the next end first
};

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_EVENT_CLOCK_H_
