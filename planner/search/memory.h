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
#include <optional>
#include <vector>

#include "planner/search/min_sum.h"

namespace meshwright::search {

struct Footprint {
  int64_t bytes = 0;      // persistent + saved, over all copies
  int64_t transient = 0;  // the largest

  int64_t peak() const;  // held at the largest int64_t
};

Footprint FootprintOf(const Graph& graph, const std::vector<int>& slots);

// No plan's largest transient is below this.
int64_t LeastTransient(const Graph& graph);

// floor(price * bytes), at most kNever.
Cost PriceOf(int64_t price, int64_t bytes);

// Time plus priced bytes.
Costs PricedCosts(const Graph& graph, int64_t price);

// Bytes alone; forbidden pairs and transients above the bound are kNever.
Costs ByteCosts(const Graph& graph, int64_t most_transient);

struct LeastMemory {
  int64_t peak_bytes = 0;
  std::vector<int> slots;
};

// Empty where every plan is forbidden. Exact if not stopped.
std::optional<LeastMemory> FindLeastMemory(
    const Graph& graph, const std::vector<Component>& components,
    const Until& until);

// The best plan known to fit, and how good a plan can be.
struct Incumbent {
  Cost time = kNever;
  std::vector<int> slots;
  Cost lower_bound = 0;
  int64_t price = 0;  // that gave the lower bound
};

// `incumbent` holds a plan that fits `limit_bytes`; `fastest` does not.
void PriceMemory(const Graph& graph, const std::vector<Component>& components,
                 const MinSumResult& fastest, int64_t limit_bytes,
                 const Until& until, Incumbent& incumbent);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_MEMORY_H_
