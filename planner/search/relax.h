// Relax: what time plus priced bytes can at least come to, and with which plan.
//
// Concept: a model that is easily eliminated says it exactly (buckets.h). For
// another, costs are moved until the bound hardly rises (duals.h), and buckets
// split to a small size turn the moved costs into a plan and a further bound.
// In → Out: model, order, price → bound, plan.
// Threads and ownership: borrows the effort and `until`.
#ifndef MESHWRIGHT_PLANNER_SEARCH_RELAX_H_
#define MESHWRIGHT_PLANNER_SEARCH_RELAX_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "planner/search/buckets.h"
#include "planner/search/effort.h"
#include "planner/search/model.h"
#include "planner/search/order.h"

namespace meshwright::search {

// Buckets and, where they were split, the potentials they read.
struct Relaxed {
  std::unique_ptr<Potentials> moved;
  std::unique_ptr<Buckets> buckets;
  Cost bound = 0;  // kNever: no choice costs at most `most`

  // Else it was stopped: there may be no buckets.
  bool is_complete() const {
    return buckets != nullptr && buckets->is_complete();
  }
};

struct RelaxEffort {
  double steps = 0;           // that an exact elimination may take
  int together = 1;           // relaxations that are kept at once
  int64_t entries = 1 << 14;  // of a table of split buckets
};

// `most`: choices that cost more do not matter.
Relaxed Relax(const Model& model, const Order& order, int64_t price, Cost most,
              const RelaxEffort& spend, const Effort& effort,
              const Until& until);

// The places that add least, from the variable that goes last: a best choice
// if the buckets are exact.
std::vector<int> BestPlaces(const Buckets& buckets);

// Without the places through which no choice costs at most `most`; a domain is
// empty if no choice does.
Model Focus(const Model& model, int64_t price, Cost most, double steps,
            const Effort& effort, const Until& until);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_RELAX_H_
