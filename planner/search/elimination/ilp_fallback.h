// ByIlp: a model handed to the solver of integer programs.
//
// Concept: for models too wide to eliminate, and for limits that labels could
// not prove within their effort. Places become options, joins pairs, bytes and
// transients a budget (planner/ilp). The plan that comes back counts only if it
// keeps to the limit in integers; the bound is the solver's, less what its
// tolerances may have added.
// In → Out: a reduced model, the best places known → perhaps better ones, and
// a bound of all.
// Errors: none; a model too large for the effort, or of figures too large for
// floating point, is left alone, and so is any just before the deadline.
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_ILP_FALLBACK_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_ILP_FALLBACK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "planner/search/graph/model.h"
#include "planner/search/graph/work_budget.h"

namespace meshwright::search {

struct IlpAnswer {
  std::vector<int> places;  // empty: none that fits was met
  Cost bound = 0;           // kNever: there is none
};

// Empty if the model was left alone.
std::optional<IlpAnswer> SolveByIlp(const Model& model,
                                    std::optional<int64_t> limit_bytes,
                                    const std::vector<int>& known,
                                    const WorkBudget& work,
                                    const base::Deadline& deadline);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_ILP_FALLBACK_H_
