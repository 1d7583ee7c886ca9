// LayoutPlanner: conversions by content, each searched once.
//
// Concept: what the rest of the planner asks. A problem with the same tensor,
// mesh, links and specs as an earlier one gets the same answer without a
// search. The cache is emptied when it holds kMaxEntries.
// Threads: any number at once; two that miss the same problem may both search.
// Errors: kInvalidArgument for a problem that does not validate, and those of
// FindCheapestPath; errors are not cached, nor are answers of a search cut
// short. Source: papers/map_colossal_auto.txt 4.3, "cache dictionary".
#ifndef MESHWRIGHT_PLANNER_LAYOUT_PLANNER_H_
#define MESHWRIGHT_PLANNER_LAYOUT_PLANNER_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "planner/layout/cheapest_path.h"
#include "planner/layout/layout_problem.h"

namespace meshwright::layout {

class LayoutPlanner {
 public:
  static constexpr size_t kMaxEntries = 1 << 16;

  // The answer of an equal earlier problem, or of a new search. Never null.
  // Errors: see above.
  absl::StatusOr<std::shared_ptr<const Conversion>> Convert(
      const LayoutProblem& problem, const SearchOptions& options = {});

  // How many answers the cache holds.
  size_t entries() const;

 private:
  struct ContentHash {
    size_t operator()(const LayoutProblem& problem) const;
  };
  struct ContentEqual {
    bool operator()(const LayoutProblem& a, const LayoutProblem& b) const;
  };

  mutable base::Mutex mutex_;
  absl::flat_hash_map<LayoutProblem, std::shared_ptr<const Conversion>,
                      ContentHash, ContentEqual>
      known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_PLANNER_H_
