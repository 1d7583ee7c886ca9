// Improve: better plans from plans there are, without proof.
//
// Concept: there are two plans, one too large and one that fits. Variable after
// variable goes over from one to the other, and the fastest mixture that fits
// is kept. A plan is polished by moving single variables, or one that becomes
// faster and another that frees the bytes. That goes on as long as the plan
// gets faster and still fits.
// In → Out: values by variable → values by variable, that fit. Stopped, they
// are the best so far.
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LOCAL_IMPROVEMENT_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LOCAL_IMPROVEMENT_H_

#include <cstdint>
#include <map>
#include <vector>

#include "base/deadline.h"
#include "planner/search/graph/model.h"

namespace meshwright::search {

// A plan of a model with its figures, kept while single values change.
class Draft {
 public:
  // Borrows the model.
  Draft(const Model& model, std::vector<int> values);

  const Model& model() const { return model_; }
  const std::vector<int>& values() const { return values_; }
  Cost time() const;  // kNever if a pair is forbidden
  int64_t bytes() const { return bytes_; }
  // The bytes with the largest transient.
  int64_t peak() const;

  // The time that `v` and its joins take at `value`.
  Cost TimeAt(int v, int value) const;
  // peak() if `v` took `value`.
  int64_t PeakAt(int v, int value) const;
  // `v` takes `value`. Costs the joins of `v`.
  void Move(int v, int value);

 private:
  void Add(Cost cost, int sign);
  void AddJoins(int v, int sign);

  const Model& model_;
  std::vector<std::vector<int>> joins_of_;
  std::vector<int> values_;
  __int128 time_ = 0;  // of what is not forbidden
  int forbidden_ = 0;
  int64_t bytes_ = 0;
  std::map<int64_t, int> transients_;  // how many variables have each
};

// The fastest plan that fits on the way from `small`, which fits, to `fast`.
std::vector<int> Mix(const Model& model, const std::vector<int>& small,
                     const std::vector<int>& fast, int64_t limit_bytes,
                     const base::Deadline& deadline);

// `values` fits, and so does what comes out.
std::vector<int> Polish(const Model& model, std::vector<int> values,
                        int64_t limit_bytes, const base::Deadline& deadline);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LOCAL_IMPROVEMENT_H_
