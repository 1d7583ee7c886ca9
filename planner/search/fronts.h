// Fronts: the labels of one laid-out sequence of copies (pareto.h).
//
// Threads and ownership: borrows the sequence and the graph's costs.
#ifndef MESHWRIGHT_PLANNER_SEARCH_FRONTS_H_
#define MESHWRIGHT_PLANNER_SEARCH_FRONTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/search/memory.h"

namespace meshwright::search {

// One copy. Between paths there is no link: any pair costs nothing.
struct Stop {
  const UnaryKind* kind = nullptr;
  std::vector<Cost> time;
  int64_t slot = 0;
  std::optional<Link> next;
};

struct Label {
  Cost time = 0;
  int64_t bytes = 0;
  int64_t transient = 0;
};

struct FrontLimits {
  int64_t limit_bytes = 0;
  int64_t least_transient = 0;
  int64_t price = 0;
  Cost most_time = kNever;  // labels that must exceed it go
  size_t width = 0;         // labels per configuration and copy
};

class Fronts {
 public:
  Fronts(const std::vector<Stop>& stops, const FrontLimits& limits);

  // The least time of a plan that fits; kNever if none was kept.
  Cost Solve(const Until& until);

  // Writes the smallest choice of that time.
  void Choose(std::vector<int>& slots) const;

  // The least bound of what was let go for width; kNever if nothing was.
  Cost let_go() const { return let_go_; }
  int64_t candidates() const { return candidates_; }

 private:
  // The least figures of all copies before one, by its configuration.
  struct Before {
    std::vector<Cost> time;
    std::vector<Cost> bytes;
    std::vector<Cost> priced;
  };
  struct Bounded {
    Label label;
    Cost bound;
  };

  void MakeBefore();
  std::optional<Cost> Bound(size_t stop, int config, const Label& label) const;
  void Fill(size_t stop);
  void Keep(std::vector<Bounded>& found, std::vector<Label>& front);
  bool Fits(int64_t bytes, int64_t transient) const;

  const std::vector<Stop>& stops_;
  FrontLimits limits_;
  std::vector<Before> before_;
  std::vector<std::vector<std::vector<Label>>> fronts_;  // stop, config
  Cost let_go_ = kNever;
  int64_t candidates_ = 0;
  Cost best_ = kNever;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_FRONTS_H_
