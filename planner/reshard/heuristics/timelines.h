// Timelines: what every link does when; jobs are put into the earliest gap that
// all their ports share.
//
// Concept: a port's links each keep their busy intervals in order of time. A
// job may go before what was placed earlier, so the order of placing is one of
// importance, not of time. Sorted by start, the placement is an order that
// Replay times no later.
// Threads: none; scratch of one search.
#ifndef MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_TIMELINES_H_
#define MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_TIMELINES_H_

#include <vector>

#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

class Timelines {
 public:
  explicit Timelines(const Instance& instance);

  // No port is busy.
  void Clear();
  // The earliest start of the job from this sender.
  Ticks Earliest(const Job& job, const Choice& sender) const;
  // The job occupies its ports from `start` on, which Earliest gave.
  void Place(const Job& job, const Choice& sender, Ticks start);

 private:
  struct Busy {
    Ticks start;
    Ticks end;
  };
  using Line = std::vector<Busy>;

  static Ticks Gap(const Line& line, Ticks from, Ticks ticks);
  Ticks PortGap(int port, Ticks from, Ticks ticks) const;
  static void Add(Line& line, const Busy& busy);
  void Occupy(int port, Ticks start, Ticks ticks);

  const int outs_;
  std::vector<int> first_;  // line of each port: out ports, then in ports
  std::vector<Line> lines_;
};

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_TIMELINES_H_
