// Memory: what plans need, what the least is, and the price of a byte.
//
// Concept: under a limit, bytes get a price (Lagrange). For any price, the
// least of time + price * bytes, less the price of the bytes there are, is a
// lower bound of every plan within the limit; the price that makes it largest
// is found by crossing the lines of two plans (Handler and Zang). All figures
// are integers and rounded down, so the bound is certified.
// Units: a price is picoseconds per mebibyte.
#ifndef MESHWRIGHT_PLANNER_SEARCH_MEMORY_H_
#define MESHWRIGHT_PLANNER_SEARCH_MEMORY_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "planner/search/min_sum.h"
#include "planner/search/model.h"

namespace meshwright::search {

struct Footprint {
  int64_t bytes = 0;      // persistent + saved, over all copies
  int64_t transient = 0;  // the largest

  int64_t peak() const;  // held at the largest int64_t
};

Footprint FootprintOf(const Graph& graph, const std::vector<int>& slots);

// No plan's largest transient is below this.
int64_t LeastTransient(const Graph& graph);

// Time plus priced bytes.
Costs PricedCosts(const Graph& graph, int64_t price);

// Bytes alone; forbidden pairs and transients above the bound are kNever.
Costs ByteCosts(const Graph& graph, int64_t most_transient);

struct LeastMemory {
  // Of the most frugal plan found; the largest int64_t if none was.
  int64_t peak_bytes = std::numeric_limits<int64_t>::max();
  std::vector<int> slots;
  int64_t bound_bytes = 0;  // no plan needs less
  bool is_exact = true;
};

// Stopped, it may not be exact; it still says whether a plan fits `limit_bytes`
// if no pair is forbidden.
LeastMemory FindLeastMemory(const Graph& graph,
                            const std::vector<Component>& components,
                            int64_t limit_bytes, const Effort& effort,
                            const Until& until);

// A plan as a line over prices: time + price * bytes.
struct Point {
  Cost time = 0;
  int64_t bytes = 0;
};

// The best plan known to fit, and how good a plan can be.
struct Incumbent {
  Cost time = kNever;
  int64_t bytes = 0;  // persistent and saved
  std::vector<int> slots;
  Cost lower_bound = 0;
  bool by_ilp = false;  // an integer program bettered time or bound
};

// `incumbent` holds a plan that fits `limit_bytes`, `fastest` one that does
// not. Returns the best plan met that is too large.
std::vector<int> PriceMemory(const Graph& graph,
                             const std::vector<Component>& components,
                             const MinSumResult& fastest, int64_t limit_bytes,
                             const Effort& effort, const Until& until,
                             Incumbent& incumbent);

// The fastest mixture of the incumbent and a plan that is too large, polished;
// it becomes the incumbent if it is faster. `model` has a variable per slot.
void MixPlans(const Model& model, const std::vector<int>& too_large,
              int64_t limit_bytes, const Until& until, Incumbent& incumbent);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_MEMORY_H_
