// FindLowerBound: what time plus charged bytes can at least come to, and with
// which plan.
//
// Concept: a model that is easily eliminated says it exactly (buckets.h). For
// another, costs are moved until the bound hardly rises (message_passing.h).
// Buckets split to a small size turn the moved costs into a plan and a further
// bound. In → Out: model, order, multiplier → bound, plan. Threads and
// ownership: borrows the work budget and the deadline.
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LOWER_BOUND_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LOWER_BOUND_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/deadline.h"
#include "planner/search/elimination/buckets.h"
#include "planner/search/elimination/message_passing.h"
#include "planner/search/elimination/order.h"
#include "planner/search/graph/model.h"
#include "planner/search/graph/work_budget.h"

namespace meshwright::search {

// Buckets and, where they were split, the potentials they read.
struct LowerBound {
  std::unique_ptr<Potentials> moved;
  std::unique_ptr<Buckets> buckets;
  Cost bound = 0;  // kNever: no choice is within the cutoff

  // Else it was stopped: there may be no buckets.
  bool is_complete() const {
    return buckets != nullptr && buckets->is_complete();
  }
};

struct LowerBoundWork {
  double steps = 0;           // that an exact elimination may take
  int together = 1;           // bounds that are kept at once
  int64_t entries = 1 << 14;  // of a table of split buckets
};

LowerBound FindLowerBound(const Model& model, const Order& order,
                          const Cutoff& cutoff, const LowerBoundWork& spend,
                          const WorkBudget& work,
                          const base::Deadline& deadline);

// The values that add least, from the variable that goes last: a best choice
// if the buckets are exact.
std::vector<int> FindBestValues(const Buckets& buckets);

// Whether no sum of costs comes near kNever, so that costs may be moved.
bool MayMoveCosts(const Model& model);

// Without the values through which no choice is within the cutoff; a domain is
// empty if no choice is.
Model Focus(const Model& model, const Cutoff& cutoff,
            const base::Deadline& deadline);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LOWER_BOUND_H_
