// Fronts: the labels of one group that are worth going on with.
//
// Concept: a label is what a choice for some variables costs (labels.h). Of two
// labels of a group one is dominated if it is not faster, needs no fewer bytes
// and leaves no larger byte budget. A front holds those that are not, rising in
// time. It is merged from runs, each of which rises in time.
// Threads and ownership: a merger is used by one thread at a time.
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LABEL_FRONT_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LABEL_FRONT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "planner/search/graph/costs.h"

namespace meshwright::search {

struct Label {
  Cost time = 0;
  int64_t bytes = 0;
  int64_t transient = 0;
  Cost bound = 0;      // of every plan it leads to
  int multiplier = 0;  // which gave the bound
};

using Front = std::vector<Label>;

struct MemoryGoal {
  int64_t limit_bytes = 0;
  int64_t min_transient = 0;  // a smaller one counts as this

  // The bytes that are left; those of the label are within the limit.
  int64_t ComputeByteBudget(const Label& label) const {
    return limit_bytes - label.bytes - std::max(label.transient, min_transient);
  }
};

// One after the other, each rising in time.
struct Runs {
  std::vector<Label> labels;
  std::vector<size_t> begins;
  bool is_front = false;  // one run, of what is not dominated
};

class FrontMerger {
 public:
  explicit FrontMerger(const MemoryGoal& goal) : goal_(goal) {}

  // Leaves one run, of what is not dominated. False if stopped: what is left is
  // of no use then.
  bool Merge(Runs& runs, const base::Deadline& deadline);

 private:
  void MergeTwo(const Label* a, const Label* b, const Label* end);

  MemoryGoal goal_;
  std::vector<Label> merged_;
  std::vector<std::pair<int64_t, int64_t>> stairs_;  // bytes, byte budget
};

// Lets the labels of the largest bounds go, over all groups; returns the least
// bound let go, kNever if none was. Each group is one run.
Cost HoldToWidth(std::span<Runs> groups, int64_t width);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LABEL_FRONT_H_
