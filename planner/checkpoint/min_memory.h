// MinMemory: what each interval needs at least, and to run nothing twice.
//
// Concept: exact bytes. min_bytes(s, t) is the least memory of any
// memory-persistent schedule of [s, t] (costs.h); full(s, t) what saving every
// stage takes. Until Fill has run, min_bytes(s, t) is what keeping nothing
// takes. t is kept at while its own turn lasts, then [s, t-1] has what there
// was. Such a schedule is slow, but wherever an interval has its min_bytes(),
// filled or not, there is a way on whose parts have theirs.
//
//   needs(s, t) = the largest of what the forwards up to t, with the gradient
//                 of t live, and the backwards of [s, t], each alone, take
//
// No schedule takes less, so where keeping nothing takes as much, and it mostly
// does, nothing is searched.
// Both full() and what keeping nothing takes are largest figures of ranges of
// stages, and need no table until Fill.
// Cost: stages times their logarithm; Fill's the square, where little is
// decided by needs() the cube, some 0.5 s for 1,200.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_MIN_MEMORY_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_MIN_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/deadline.h"
#include "planner/checkpoint/costs.h"
#include "planner/checkpoint/ranges.h"

namespace meshwright::checkpoint {

class MinMemory {
 public:
  // Nothing is filled yet. Borrows the costs.
  explicit MinMemory(const Costs& costs);

  // Makes every min_bytes(s, t) exact; false if interrupted before.
  bool Fill(const base::Deadline& deadline = {});

  // The minimum memory of [s, t]; before Fill, that of keeping nothing.
  int64_t min_bytes(int s, int t) const {
    return s < unfilled_ ? KeepingNothing(s, t)
                         : min_bytes_[costs_.Index(s, t)];
  }
  // The memory that saving every stage of [s, t] takes.
  int64_t full(int s, int t) const {
    const Saving saving = savings_.Combine(s, t);
    return std::max(saving.forward + costs_.Gradient(t), saving.backward) -
           saved_before_[s];
  }

 private:
  // Saving all stages of a range: the most that any takes beside all saved
  // since the first stage of all.
  struct Saving {
    int64_t forward = 0;  // without the gradient
    int64_t backward = 0;

    Saving With(const Saving& later) const {
      return {std::max(forward, later.forward),
              std::max(backward, later.backward)};
    }
  };
  // Keeping nothing: what some stages of a range take.
  struct Keeping {
    int64_t forward = 0;   // a forward, from one kept earlier
    int64_t gradient = 0;  // live while [.., t] runs forward
    int64_t both = 0;      // a forward and the gradient of a later stage
    int64_t turn = 0;      // a stage by itself, kept at

    Keeping With(const Keeping& later) const {
      return {std::max(forward, later.forward),
              std::max(gradient, later.gradient),
              std::max({both, later.both, forward + later.gradient}),
              std::max(turn, later.turn)};
    }
  };

  std::vector<Saving> ListSavings() const;
  std::vector<Keeping> ListKeepings() const;
  int64_t KeepingNothing(int s, int t) const {
    if (s == t) return costs_.SaveNeed(s, s);
    const Keeping keeping = keepings_.Combine(s + 1, t);
    return std::max({costs_.SaveNeed(s, s),
                     costs_.KeepStep(s, s + 1) + keeping.gradient, keeping.both,
                     keeping.turn});
  }
  void FillRow(int s);
  int64_t Searched(int s, int t, int64_t needs, int64_t max_bytes) const;

  const Costs& costs_;
  std::vector<int64_t> saved_before_;  // by stage
  const Ranges<Saving> savings_;
  const Ranges<Keeping> keepings_;
  std::unique_ptr<int64_t[]> min_bytes_;  // by interval, of filled rows
  std::vector<int64_t> steps_;  // of one s: the largest KeepStep up to each k
  int unfilled_;                // rows before it are
};

// full(0, n-1), in linear time.
int64_t CountFullMemory(const Costs& costs);

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_MIN_MEMORY_H_
