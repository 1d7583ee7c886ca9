// MessagePassing: a bound from below by moving costs between variables and
// joins.
//
// Concept: costs may be moved from a variable to its joins and back without
// changing what any choice costs. The sum of all minima bounds every choice
// from below, and the movement seeks to make it large. A pass goes through the
// variables in rising order and back (sequential reweighted message passing).
// Each draws in what its joins to earlier variables guarantee, and hands on
// equal shares to its joins to later ones. On a path one pass is exact; on a
// graph of any width a pass costs the same per join. While a variable holds
// what it has drawn in, the bound through each of its values is known. Values
// through which nothing stays within the cutoff are dead, and no longer count.
// In → Out: model, cutoff → bound, a plan, values alive, moved costs. The
// cutoff may change: costs stay where they were moved to.
// Source: Kolmogorov, A new look at reweighted message passing (2015). Shares
// are integers rounded down, which the bound allows for.
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_MESSAGE_PASSING_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_MESSAGE_PASSING_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "base/deadline.h"
#include "planner/search/elimination/buckets.h"
#include "planner/search/elimination/restrict.h"
#include "planner/search/graph/model.h"

namespace meshwright::search {

// Choices of more than `max_cost` do not matter: time plus bytes at the
// multiplier, a transient counting where it is above `free_transient`.
struct Cutoff {
  int64_t multiplier = 0;
  Cost max_cost = kNever;
  int64_t free_transient = std::numeric_limits<int64_t>::max();
};

class MessagePassing {
 public:
  // Borrows the model. No charged choice that is allowed costs kNever / 4.
  MessagePassing(const Model& model, const Cutoff& cutoff);

  // Values that are dead must not matter under this cutoff either.
  void SetCutoff(const Cutoff& cutoff);

  // Forward and back. False once no choice within the cutoff is left. One that
  // is stopped on the way has moved fewer costs; all holds as before.
  bool Pass(const base::Deadline& deadline);

  // Passes until the bound hardly rises. False as above.
  bool Converge(const base::Deadline& deadline);

  // No choice costs less; of those within the cutoff.
  Cost bound() const { return bound_; }

  // One variable after the other, what costs least beside those before.
  std::vector<int> Values() const;

  // The values of every variable that are not dead.
  Keep Alive() const;
  // The costs as they lie now, with bound() as their base; a dead value costs
  // kNever.
  Potentials Moved() const;

 private:
  struct Side {  // of a join, as one of its variables sees it
    int join = 0;
    bool is_row = false;
  };

  void Sweep(bool forward, const base::Deadline& deadline);
  void Draw(int v, const Side& side);
  void HandOn(int v, const std::vector<Side>& sides, int shares);
  void Bury(int v);
  Cost Bound() const;
  Cost FindMin(int join) const;

  const Model& model_;
  Cutoff cutoff_;
  std::vector<std::vector<Cost>> transients_;  // their cost, by domain
  std::vector<std::vector<Side>> earlier_;     // by variable
  std::vector<std::vector<Side>> later_;
  std::vector<std::vector<Cost>> own_;
  std::vector<std::vector<Cost>> rows_;     // added to a join, by its rows
  std::vector<std::vector<Cost>> columns_;  // and by its columns
  std::vector<Cost> minima_;
  Cost rounding_ = 0;
  Cost bound_ = 0;
  bool is_empty_ = false;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_MESSAGE_PASSING_H_
