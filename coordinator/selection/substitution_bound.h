// SubstitutionBound: what changing the configuration of one copy can add at its
// boundaries, whatever its neighbours are.
//
// Concept: a copy meets the tables of its edges and of its neighbouring copies.
// For each of them the change from a to b adds at most max_x T(b, x) - T(a, x).
// The maximum is over the neighbour's configurations x that allow a. Summed
// over the tables that one copy meets together, and the largest over the places
// that a copy can have:
//
//   first of a run   edges that come in, next copy
//   within           copy before, next copy     also where the run is short, so
//   last             copy before, edges out     that depth changes nothing
//
// Equal tables of several edges count once for each edge, as the neighbours
// behind them choose on their own.
// The copies of a tied node change together: T(b, b) - T(a, a) in between.
// If t(b) + Bound(a, b) <= t(a), no plan loses when b takes the place of a.
// Threads: const access from one thread; answers are cached.
#ifndef MESHWRIGHT_COORDINATOR_SELECTION_SUBSTITUTION_BOUND_H_
#define MESHWRIGHT_COORDINATOR_SELECTION_SUBSTITUTION_BOUND_H_

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "planner/problem/plan_problem.h"

namespace meshwright::selection {

class SubstitutionBound {
 public:
  // `problem` outlives it.
  explicit SubstitutionBound(const problem::PlanProblem& problem);

  // Nothing where a neighbour may allow `a` and forbid `b`.
  std::optional<problem::Picoseconds> Bound(segmenter::SegmentTypeId type,
                                            int a, int b) const;

 private:
  enum class Side { kRow, kColumn, kDiagonal };
  // Tables met together; those of two neighbours may be equal.
  using Place = std::multiset<std::pair<int, Side>>;
  struct Type {
    std::set<Place> places;
    std::vector<int> kind;            // by configuration: equal at all tables
    std::vector<int> representative;  // by kind
  };
  // From one kind of a type to another.
  struct Change {
    segmenter::SegmentTypeId type;
    int from = 0;
    int to = 0;
    auto operator<=>(const Change&) const = default;
  };
  using Entry = std::optional<problem::Picoseconds>;

  int Canonical(int table) const { return canonical_[table]; }
  std::vector<Entry> Entries(int table, Side side, int configuration) const;
  void FindPlaces();
  void FindKinds(segmenter::SegmentTypeId type);
  std::optional<problem::Picoseconds> AtPlace(const Place& place, int a,
                                              int b) const;

  const problem::PlanProblem& problem_;
  std::vector<int> canonical_;  // by table: the first equal one
  std::vector<Type> types_;
  mutable std::map<Change, std::optional<problem::Picoseconds>> cache_;
};

}  // namespace meshwright::selection

#endif  // MESHWRIGHT_COORDINATOR_SELECTION_SUBSTITUTION_BOUND_H_
