// LinkTimes: until when the links of every port are in use, as jobs are
// appended.
//
// Concept: the links of a port lie side by side. A job that starts at t takes,
// of the links free at t, the one in use last, which leaves the most.
#ifndef MESHWRIGHT_PLANNER_RESHARD_PROBLEM_LINK_TIMES_H_
#define MESHWRIGHT_PLANNER_RESHARD_PROBLEM_LINK_TIMES_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "planner/reshard/problem/durations.h"

namespace meshwright::reshard {

class LinkTimes {
 public:
  explicit LinkTimes(const std::vector<int>& links) : first_{0} {
    for (const int count : links) first_.push_back(first_.back() + count);
    until_.assign(first_.back(), 0);
  }

  // When the first link of the port is free.
  Ticks FreeAt(int port) const {
    Ticks min_until = until_[first_[port]];
    for (int i = first_[port] + 1; i < first_[port + 1]; ++i) {
      min_until = std::min(min_until, until_[i]);
    }
    return min_until;
  }

  // The link that a job which starts then takes.
  int Find(int port, Ticks start) const {
    int best = first_[port];
    for (int i = best + 1; i < first_[port + 1]; ++i) {
      if (until_[i] <= start &&
          (until_[best] > start || until_[i] > until_[best])) {
        best = i;
      }
    }
    return best;
  }
  // Takes the link that Find gives, until `end`.
  void Occupy(int port, Ticks start, Ticks end) {
    until_[Find(port, start)] = end;
  }

  Ticks Until(int link) const { return until_[link]; }
  void Restore(int link, Ticks until) { until_[link] = until; }

  int Begin(int port) const { return first_[port]; }
  int End(int port) const { return first_[port + 1]; }
  int size() const { return static_cast<int>(until_.size()); }
  // All links are free from 0 on.
  void Clear() { std::fill(until_.begin(), until_.end(), 0); }

 private:
  std::vector<int> first_;  // per port, and the end
  std::vector<Ticks> until_;
};

// Occupies links as a search goes down, and gives them back as it comes up.
class Trail {
 public:
  size_t mark() const { return taken_.size(); }

  void Occupy(LinkTimes& ports, int port, Ticks start, Ticks end) {
    // Which link is taken is known only after; all of a port's are kept.
    for (int i = ports.Begin(port); i < ports.End(port); ++i) {
      taken_.push_back({&ports, i, ports.Until(i)});
    }
    ports.Occupy(port, start, end);
  }

  // As it was at the mark.
  void BackTo(size_t mark) {
    while (taken_.size() > mark) {
      const Taken& taken = taken_.back();
      taken.ports->Restore(taken.link, taken.until);
      taken_.pop_back();
    }
  }

 private:
  struct Taken {
    LinkTimes* ports;
    int link;
    Ticks until;
  };

  std::vector<Taken> taken_;
};

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_PROBLEM_LINK_TIMES_H_
