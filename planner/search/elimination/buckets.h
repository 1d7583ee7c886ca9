// Buckets: a model eliminated variable by variable, tables kept.
//
// Concept: the bucket of a variable holds the joins to variables that go later
// and the tables left behind by those that went before. Its minimum over the
// variable is the table it leaves. Where that would have more than
// `max_entries` the bucket is split and each part minimised for itself. The sum
// is then a bound from below, no longer the minimum cost (mini-buckets). Read
// backwards, the buckets say what each value of a variable adds to the bound,
// given those of the variables that went later. The best adds 0.
// In → Out: model, multiplier of bytes, order → bound, additions.
// Source: Dechter, Bucket elimination (1999); Dechter and Rish, Mini-buckets
// (2003).
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_BUCKETS_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_BUCKETS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "planner/search/elimination/table.h"
#include "planner/search/graph/model.h"

namespace meshwright::search {

// The same costs, moved between variables and joins so that bounds are good
// (message_passing.h). All are at least 0.
struct Potentials {
  Cost base = 0;
  std::vector<std::vector<Cost>> own;  // by variable
  std::vector<Matrix> joins;           // by join of the model
};

// Time plus charged bytes of every value of every variable.
std::vector<std::vector<Cost>> ChargeTimes(const Model& model,
                                           int64_t multiplier);

class Buckets {
 public:
  // Borrows the model, and `potentials` where given. `sequence` lists all
  // variables.
  Buckets(const Model& model, int64_t multiplier,
          const std::vector<int>& sequence, int64_t max_entries,
          const Potentials* potentials, const base::Deadline& deadline);

  // No choice costs less than this bound; it says nothing if not is_complete.
  Cost bound() const { return bound_; }
  bool is_exact() const { return is_exact_; }
  bool is_complete() const { return is_complete_; }

  const std::vector<int>& sequence() const { return sequence_; }
  int position(int v) const { return shape_.positions[v]; }

  // The variables, all of later positions, that decide what `v` adds.
  const std::vector<int>& scope(int v) const { return buckets_[v].scope; }

  // out[c]: what value c of `v` adds to the bound, the values of its scope
  // being given by variable; kNever where that is forbidden.
  void Additions(int v, const std::vector<int>& values,
                 std::vector<Cost>& out) const;
  // The same for one value, which is given among the others.
  Cost Addition(int v, const std::vector<int>& values) const;

 private:
  struct Part {
    std::vector<View> views;
    Table left;  // over the scope
    View left_view;
  };
  struct Bucket {
    std::vector<View> views;
    std::vector<Part> parts;
    std::vector<int> scope;
  };

  void AddJoins(const Potentials* potentials);
  void Put(const View& view);
  void Split(int v, int64_t max_entries);
  bool Close(int v, const base::Deadline& deadline);

  const Model& model_;
  std::vector<int> sequence_;
  Shape shape_;
  std::vector<std::vector<Cost>> own_;
  std::vector<Bucket> buckets_;
  Cost bound_ = 0;
  bool is_exact_ = true;
  bool is_complete_ = true;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_BUCKETS_H_
