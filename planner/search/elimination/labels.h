// Labels: the fastest choice of a model within a memory limit, proved.
//
// Concept: variables are taken one by one against the order of elimination. A
// label is a choice for those taken so far: its time, its bytes and its largest
// transient. For several multipliers of bytes, buckets say exactly, or nearly,
// what the best completion costs (buckets.h). Each gives a bound from below of
// every plan the label leads to, and the largest counts. Among the labels of a
// group (label_keys.h) the dominated go. So do all that cannot become faster
// than the best plan known, or cannot be brought within the limit. Labels are
// held to a width. One that is dropped for width alone leaves its bound behind.
// The answer is exact when none was dropped so, and has a certified bound when
// some were.
// Ties: the smallest value of the variable taken last, then of the one before.
// Source: label setting for constrained shortest paths with Lagrangian
// potentials (Handler and Zang 1980; Dumitrescu and Boland 2003).
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LABELS_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LABELS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "base/deadline.h"
#include "planner/search/elimination/buckets.h"
#include "planner/search/elimination/label_front.h"
#include "planner/search/elimination/label_keys.h"
#include "planner/search/graph/model.h"

namespace meshwright::search {

struct ChargedBuckets {
  int64_t multiplier = 0;
  const Buckets* buckets =
      nullptr;  // same model and sequence for every multiplier
};

struct LabelGoal {
  MemoryGoal memory{.limit_bytes = std::numeric_limits<int64_t>::max()};
  Cost max_time = kNever;  // labels that must exceed it go
  int64_t width = 0;       // labels after each variable
};

class Labels {
 public:
  // Borrows the model and the buckets, whose multipliers rise; the one in the
  // middle decides most.
  Labels(const Model& model, std::vector<ChargedBuckets> charged,
         const LabelGoal& goal);

  // The least time of a choice that fits; kNever if none was kept.
  Cost Solve(const base::Deadline& deadline);

  // A choice of that time: value by variable.
  std::vector<int> Values() const;

  // No choice that fits and was let go takes less; kNever if none was.
  Cost let_go() const { return let_go_; }
  int64_t candidates() const { return candidates_; }

 private:
  struct Stage {
    LabelKeys keys;
    std::vector<Cost>
        completions;            // by group and multiplier: the least to come
    std::vector<Front> fronts;  // by group
  };
  struct Extension {  // a value that the variable can take, given a group
    int value = 0;
    Cost addition = 0;  // at the multiplier in the middle
    Cost time = 0;
  };

  void Arrange();
  // False if stopped.
  bool Expand(const Stage& before, Stage& stage,
              const base::Deadline& deadline);
  bool ExpandGroup(const Stage& before, int from, Stage& stage,
                   const base::Deadline& deadline);
  bool Hold(int groups, int64_t width, const base::Deadline& deadline);
  std::vector<Extension> FindExtensions(int v);
  int Meet(const Stage& before, int from, const Extension& extension,
           Stage& stage);
  bool SetBound(Label& label, const Cost* completions,
                int64_t bytes_after) const;
  void Compact(Stage& stage) const;
  std::vector<Cost> JoinTimes(int v, const std::vector<int>& values, int from,
                              int to) const;

  const Model& model_;
  std::vector<ChargedBuckets> charged_;
  int middle_;
  std::vector<int64_t> multipliers_;
  LabelGoal goal_;
  std::vector<std::vector<int>> joins_of_;
  std::vector<int> position_;  // of a variable among the stages
  std::vector<Stage> stages_;
  std::vector<int64_t> bytes_after_;  // the least bytes of later stages
  FrontMerger merger_;
  std::vector<Runs> runs_;  // by group
  int64_t waiting_ = 0;     // labels of runs_
  Cost cut_ = kNever;       // labels of a larger bound go at once
  std::vector<Cost> slack_;
  std::vector<int> values_;
  std::vector<Cost> additions_;
  Cost best_ = kNever;
  Cost let_go_ = kNever;
  int64_t candidates_ = 0;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LABELS_H_
